"""Trains a network on 28 x 28 pictures of digits, as in MNIST, drawn here: seven segments, shifted, with noise."""

import sys

import numpy as np
import tensorflow as tf

# Segments of a digit, as (top, bottom, left, right) in a field of 18 x 10 pixels.
SEGMENTS = {
    "a": (0, 2, 0, 10), "b": (0, 10, 8, 10), "c": (8, 18, 8, 10), "d": (16, 18, 0, 10),
    "e": (8, 18, 0, 2), "f": (0, 10, 0, 2), "g": (8, 10, 0, 10),
}
DIGITS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def draw(count, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    pictures = np.zeros((count, 28, 28), np.float32)
    tops = random.integers(0, 28 - 18 + 1, count)
    lefts = random.integers(0, 28 - 10 + 1, count)
    for picture, label, top, left in zip(pictures, labels, tops, lefts):
        for segment in DIGITS[label]:
            first, last, begin, end = SEGMENTS[segment]
            picture[top + first:top + last, left + begin:left + end] = 1.0
    pictures += random.normal(0.0, 0.4, pictures.shape)
    return pictures[..., np.newaxis].astype(np.float32), labels


gpus = tf.config.list_physical_devices("GPU")
if not gpus:
    sys.exit("mnist: TensorFlow finds no GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)

pictures, labels = draw(50000, 1)
test_pictures, test_labels = draw(10000, 2)
model = tf.keras.Sequential([
    tf.keras.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dense(10),
])
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(pictures, labels, batch_size=256, epochs=5, verbose=2)
_, accuracy = model.evaluate(test_pictures, test_labels, verbose=0)
print(f"accuracy on new pictures: {accuracy:.4f}")
if accuracy < 0.95:
    sys.exit("mnist: the network did not learn to read digits")
print("Test PASSED")
