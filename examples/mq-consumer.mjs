/**
 * Consumes runs of ax from a RabbitMQ queue, and sends receipts to the API.
 *
 *     npm install amqplib
 *     node mq-consumer.mjs amqp://guest:guest@localhost:5672 orders.sync
 */
import { connect } from 'amqplib';

const [url, queue] = process.argv.slice(2);
const connection = await connect(url);
connection.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
});
const channel = await connection.createChannel();
await channel.assertQueue(queue, { durable: true });
await channel.prefetch(1);
// Results by messageId; keep them in your database. ax may deliver a run twice, and the second one may wait for a receipt, too.
const done = new Map();

/** Tells ax what became of the run; nothing to tell unless the task has `"ack": "receipt"`. */
async function receipt({ properties }, status, message) {
  const { 'x-ax-receipt-url': to, 'x-ax-receipt-token': token } = properties.headers;
  if (token === undefined) return;
  if (to === undefined) return replyTo(properties, token, { status, message });
  const headers = { 'Content-Type': 'application/json', 'X-Ax-Receipt-Token': token };
  const answer = await fetch(to, { method: 'POST', headers, body: JSON.stringify({ status, message }) });
  // 409: nobody waits for it any more.
  if (!answer.ok && answer.status !== 409) throw new Error(`the receipt was answered ${answer.status}`);
}

/** Where ax has no address of its API: the reply queue. */
function replyTo({ replyTo: to, correlationId }, token, body) {
  const options = { correlationId, headers: { 'x-ax-receipt-token': token }, persistent: true };
  channel.sendToQueue(to, Buffer.from(JSON.stringify(body)), options);
}

/** Your business. Throw to let the run fail. */
async function work({ params, task_id: taskId, schedule_at: scheduleAt }) {
  if (params === 'fail') throw new Error('no stock');
  return `ran ${taskId} of ${new Date(scheduleAt).toISOString()}`;
}

async function take(message) {
  const { type, messageId, correlationId, headers } = message.properties;
  if (type === 'ax.cancel') {
    process.stdout.write(`cancelled ${correlationId} ${headers['x-ax-cancel-reason']}\n`);
  } else if (type === 'ax.run') {
    process.stdout.write(`run ${messageId}\n`);
    await receipt(message, 'progress', 'begun');
    try {
      if (!done.has(messageId)) done.set(messageId, await work(JSON.parse(message.content)));
    } catch (error) {
      await receipt(message, 'fail', error.message);
    }
    if (done.has(messageId)) await receipt(message, 'success', done.get(messageId));
  }
  // Only now: a run that this consumer dies with is delivered again.
  channel.ack(message);
}

await channel.consume(queue, (message) => {
  if (message === null) return;
  take(message).catch((error) => {
    process.stderr.write(`${error.message}\n`);
    channel.nack(message);
  });
});
process.stdout.write('ready\n');
