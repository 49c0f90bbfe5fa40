"""Trains ResNet-50 on random images and prints the speed. BATCH_SIZE and STEPS are environment variables."""

import os
import sys
import time

import tensorflow as tf

BATCH_SIZE = int(os.environ.get("BATCH_SIZE", "64"))
STEPS = int(os.environ.get("STEPS", "500"))
WARM_UP = 20  # steps, in which TensorFlow compiles and tunes

gpus = tf.config.list_physical_devices("GPU")
if not gpus:
    sys.exit("resnet50: TensorFlow finds no GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
print("GPU:", tf.config.experimental.get_device_details(gpus[0]).get("device_name"))

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.applications.ResNet50(weights=None, classes=1000)
optimizer = tf.keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)
loss_function = tf.keras.losses.SparseCategoricalCrossentropy()

# One batch, made on the GPU: what is measured is the GPU, not a disk.
images = tf.random.stateless_uniform((BATCH_SIZE, 224, 224, 3), seed=(1, 2))
labels = tf.random.stateless_uniform((BATCH_SIZE,), seed=(3, 4), maxval=1000, dtype=tf.int32)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = loss_function(labels, tf.cast(model(images, training=True), tf.float32))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for _ in range(WARM_UP):
    loss = step()
print(f"loss after {WARM_UP} steps: {float(loss):.3f}", flush=True)

start = time.monotonic()
for number in range(1, STEPS + 1):
    loss = step()
    if number % 100 == 0:
        value = float(loss)  # waits for the GPU
        print(f"step {number}: {number * BATCH_SIZE / (time.monotonic() - start):.1f} images/s, loss {value:.3f}", flush=True)
value = float(loss)
print(f"total: {STEPS * BATCH_SIZE / (time.monotonic() - start):.1f} images/s")
if value != value:
    sys.exit("resnet50: the loss is not a number")
