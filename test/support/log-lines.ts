import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

/** Every line that the code below `folder` can log, as `level message`; what is filled in shows as `…`. */
export function logLinesOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).flatMap((file) => linesOf(join(folder, file)));
}

function linesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const lines: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const message = node.arguments.at(-1);
      if (LEVELS.has(name.text) && /\blogger$/.test(expression.getText()) && message !== undefined)
        lines.push(...messagesOf(message).map((text) => `${name.text} ${text}`));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

function messagesOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(messagesOf);
  if (ts.isTemplateExpression(node))
    return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')];
  return ts.isIdentifier(node) ? constantOf(node) : [];
}

/** The text of the nearest constant above of that name; nothing else is known of it. */
function constantOf(node: ts.Identifier): string[] {
  const above = node.getSourceFile().text.slice(0, node.pos);
  const found = [...above.matchAll(new RegExp(`const ${node.text} =\\s+'([^']+)'`, 'g'))].at(-1);
  return found?.[1] === undefined ? [] : [found[1]];
}
