"""Consumes runs of ax from a RabbitMQ queue, and sends receipts over the reply queue.

    pip install pika
    python mq-consumer.py amqp://guest:guest@localhost:5672 orders.sync
"""

import json
import sys

import pika

url, queue = sys.argv[1:3]
channel = pika.BlockingConnection(pika.URLParameters(url)).channel()
channel.queue_declare(queue, durable=True)
channel.basic_qos(prefetch_count=1)
# Results by message_id; keep them in your database. ax may deliver a run twice, and the second one may wait for a receipt, too.
done = {}


def receipt(properties, status, message=None):
    """Tells ax what became of the run; nothing to tell unless the task has "ack": "receipt"."""
    if properties.reply_to is None:
        return
    token = properties.headers["x-ax-receipt-token"]
    channel.basic_publish(
        exchange="",
        routing_key=properties.reply_to,
        body=json.dumps({"status": status, "message": message}),
        properties=pika.BasicProperties(
            correlation_id=properties.correlation_id,
            headers={"x-ax-receipt-token": token},
            delivery_mode=2,
        ),
    )


def work(run):
    """Your business. Raise to let the run fail."""
    if run["params"] == "fail":
        raise ValueError("no stock")
    return f"ran {run['task_id']} of {run['schedule_at']}"


def on_message(_channel, method, properties, body):
    if properties.type == "ax.cancel":
        print("cancelled", properties.correlation_id, properties.headers["x-ax-cancel-reason"], flush=True)
    elif properties.type == "ax.run":
        print("run", properties.message_id, flush=True)
        receipt(properties, "progress", "begun")
        try:
            if properties.message_id not in done:
                done[properties.message_id] = work(json.loads(body))
            receipt(properties, "success", done[properties.message_id])
        except Exception as error:
            receipt(properties, "fail", str(error))
    # Only now: a run that this consumer dies with is delivered again.
    channel.basic_ack(method.delivery_tag)


channel.basic_consume(queue, on_message)
print("ready", flush=True)
channel.start_consuming()
