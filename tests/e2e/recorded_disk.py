"""A disk that writes down everything that reaches it, and what a power cut could have left of it at any moment.

`record` is a server for one client (NBD), to which QEMU's disk is redirected. It keeps the order in which writes and flushes
arrived and were answered, and thus what a disk with a volatile cache owes to the machine: a write is durable when a flush
has been answered that arrived after the write's own answer. Of the others, any may be lost, also in part, whatever their order
was."""
import bisect
import os
import select
import socket
import struct
import sys
import time

SECTOR = 512
ENTRY = struct.Struct("<cQQI")  # kind, number, offset, length; the data follow a write. The offset of an answer is the time (ns)
WRITE, WRITTEN, FLUSH, FLUSHED = b"w", b"d", b"f", b"F"

NBD_MAGIC, OPTION_MAGIC, REPLY_MAGIC = 0x4E42444D41474943, 0x49484156454F5054, 0x3E889045565A9
REQUEST = struct.Struct(">IHHQQI")
READ_COMMAND, WRITE_COMMAND, CLOSE_COMMAND, FLUSH_COMMAND = 0, 1, 2, 3
FLAGS = 1 | 4  # there are flags, and flushes. QEMU flushes after what has to be durable at once


def receive(client, length):
    data = bytearray()
    while len(data) < length:
        part = client.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def negotiate(client, size):
    """The fixed newstyle handshake; the only export is the disk."""
    client.sendall(struct.pack(">QQH", NBD_MAGIC, OPTION_MAGIC, 3))
    receive(client, 4)
    while True:
        _, option, length = struct.unpack(">QII", receive(client, 16))
        receive(client, length)

        def reply(kind, data=b"", option=option):
            client.sendall(struct.pack(">QIII", REPLY_MAGIC, option, kind, len(data)) + data)

        if option in (6, 7):  # info, go
            reply(3, struct.pack(">HQH", 0, size, FLAGS))
            reply(1)
            if option == 7:
                return
        elif option == 1:  # export name
            client.sendall(struct.pack(">QH", size, FLAGS))
            return
        else:
            reply(0x80000001)  # not supported


def record(listener, disk, log):
    """Serves the disk to one client until it goes, and writes the log."""
    client, _ = listener.accept()
    descriptor = os.open(disk, os.O_RDWR)
    number = 0
    with client, open(log, "wb", buffering=1 << 20) as out:
        negotiate(client, os.fstat(descriptor).st_size)
        waiting = []
        while True:
            # Everything that has been sent already is under way together: none of it waits for the other's answer.
            if waiting and not select.select([client], [], [], 0)[0]:
                for kind, entry, handle, data in waiting:
                    if kind:
                        out.write(ENTRY.pack(kind, entry, time.monotonic_ns(), 0))
                    client.sendall(struct.pack(">IIQ", 0x67446698, 0, handle) + data)
                waiting = []
            try:
                _, _, command, handle, offset, length = REQUEST.unpack(receive(client, REQUEST.size))
            except (EOFError, ConnectionError):
                return
            if command == READ_COMMAND:
                waiting.append((b"", 0, handle, os.pread(descriptor, length, offset)))
            elif command == WRITE_COMMAND:
                data = receive(client, length)
                os.pwrite(descriptor, data, offset)
                number += 1
                out.write(ENTRY.pack(WRITE, number, offset, length) + data)
                waiting.append((WRITTEN, number, handle, b""))
            elif command == FLUSH_COMMAND:
                number += 1
                out.write(ENTRY.pack(FLUSH, number, 0, 0))
                waiting.append((FLUSHED, number, handle, b""))
            elif command == CLOSE_COMMAND:
                return


class Log:
    """What `record` wrote: `writes` by number, with what has to happen before each of them is durable."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.writes = []  # (position in the log of events, offset, length, position of the data, durable at this event)
        self.times = []  # of each event: when the last answer before it was given
        written, flushes, place, events = {}, [], 0, 0
        answered = {}
        size = os.fstat(self.file.fileno()).st_size
        raw = []
        while place + ENTRY.size <= size:
            self.file.seek(place)
            kind, number, offset, length = ENTRY.unpack(self.file.read(ENTRY.size))
            place += ENTRY.size
            self.times.append(offset if kind in (WRITTEN, FLUSHED) else (self.times or [0])[-1])
            if kind == WRITE:
                raw.append((events, number, offset, length, place))
                place += length
            elif kind == WRITTEN:
                written[number] = events
            elif kind == FLUSH:
                flushes.append((events, number))
            elif kind == FLUSHED:
                answered[number] = events
            else:
                raise ValueError(f"{path}: not a log at {place}")
            events += 1
        self.events = events
        # Of each flush, when it arrived; and from it on, the first answer to any flush that arrived then or later.
        arrived = [event for event, _ in flushes]
        first, best = [], events
        for event, number in reversed(flushes):
            best = min(best, answered.get(number, events))
            first.append(best)
        first.reverse()
        for event, number, offset, length, data in raw:
            if number in written:
                following = bisect.bisect(arrived, written[number])
                durable = first[following] if following < len(first) else events
            else:
                durable = events
            self.writes.append((event, offset, length, data, durable))
        self.flushes = arrived

    def data(self, write):
        self.file.seek(write[3])
        return self.file.read(write[2])


def surviving(log, write, chosen):
    """Which parts of a write that no flush has covered a power cut leaves: [(offset, data)]."""
    data = log.data(write)
    torn = chosen.random()
    if torn < 0.7:
        return [(write[1], data)]
    unit = SECTOR if torn < 0.85 else 8 * SECTOR
    parts = [(write[1] + at, data[at:at + unit]) for at in range(0, len(data), unit)]
    if chosen.random() < 0.5:
        return parts[:chosen.randrange(len(parts) + 1)]
    return [part for part in parts if chosen.random() < 0.5]


class CutDisk:
    """The disk as power cuts leave it, one after the other in the order of time: a file for each partition that has what is
    durable, and in which the rest of each cut is undone before the next."""

    def __init__(self, log, parts):
        """`parts`: [(where on the disk, size, file)]. Writes elsewhere are an error: the table of partitions does not change."""
        self.log = log
        self.parts = [(start, size, open(path, "r+b", buffering=0)) for start, size, path in parts]
        self.applied = 0
        # By when they are durable, in the order in which they arrived for equal moments.
        self.order = sorted(range(len(log.writes)), key=lambda index: (log.writes[index][4], index))
        self.undo = []

    def close(self):
        for _, _, file in self.parts:
            file.close()

    def place(self, offset, length):
        for start, size, file in self.parts:
            if start <= offset and offset + length <= start + size:
                file.seek(offset - start)
                return file
        raise ValueError(f"a write outside of the partitions, at {offset}")

    def put(self, offset, data):
        self.place(offset, len(data)).write(data)

    def restore(self):
        for offset, data in reversed(self.undo):
            self.put(offset, data)
        self.undo = []

    def change(self, offset, data):
        """What `restore` takes back."""
        self.undo.append((offset, self.place(offset, len(data)).read(len(data))))
        self.put(offset, data)

    def all(self):
        """The disk at the end."""
        self.restore()
        for write in self.log.writes:
            self.put(write[1], self.log.data(write))

    def cut(self, moment, chosen, lie=0):
        """The disk with all that is durable at this event, and a random part of what else had arrived; how many writes are
        lost. With `lie`, the disk has not done what it said in the last so many events."""
        self.restore()
        before = self.applied
        while self.applied < len(self.order) and self.log.writes[self.order[self.applied]][4] < moment - lie:
            self.applied += 1
        # Two writes of the same place are never under way together: the order of arrival is that of the disk.
        for index in sorted(self.order[before:self.applied]):
            self.put(self.log.writes[index][1], self.log.data(self.log.writes[index]))
        pending = sorted(index for index in self.order[self.applied:] if self.log.writes[index][0] < moment)
        share = chosen.choice((0, 0.1, 0.5, 0.9, 1))
        kept = [index for index in pending if chosen.random() < share]
        for index in kept:
            for offset, data in surviving(self.log, self.log.writes[index], chosen):
                self.change(offset, data)
        return len(pending) - len(kept)


def main():
    """recorded_disk.py SOCKET DISK LOG: listens, goes to the background, and ends with its client."""
    path, disk, log = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    if os.fork() == 0:
        os.setsid()
        for descriptor in os.listdir("/proc/self/fd"):
            if int(descriptor) > 2 and int(descriptor) != listener.fileno():
                try:
                    os.close(int(descriptor))
                except OSError:
                    pass
        errors = os.open(log + ".errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for standard in (0, 1, 2):
            os.dup2(errors, standard)
        record(listener, disk, log)


if __name__ == "__main__":
    main()
