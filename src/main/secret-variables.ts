/** `AX_SECRET_ORDERS` is the secret that tasks call `ORDERS`. */
const SECRET_VARIABLE = /^AX_SECRET_([A-Z][A-Z0-9_]{0,63})$/;

export const isSecretVariable = (key: string): boolean => SECRET_VARIABLE.test(key);

/** Secrets by the names that tasks use. A variable set to nothing counts as not set. */
export const secretsOf = (env: NodeJS.ProcessEnv): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(env).flatMap(([key, value = '']) => {
      const name = SECRET_VARIABLE.exec(key)?.[1];
      return name === undefined || value === '' ? [] : [[name, value]];
    }),
  );
