"""Made-up disks for lsblk --sysroot."""

MIB = 1 << 20


class Tree:
    """Disks in the form in which the kernel and udev describe them to lsblk."""

    def __init__(self, case):
        self.root = case / "tree"
        self.count = 0
        for name in ("sys/block", "sys/dev/block", "dev"):
            (self.root / name).mkdir(parents=True)

    def _device(self, directory, name, size, udev, values):
        number = f"8:{self.count}"
        self.count += 1
        directory.mkdir(parents=True)
        for made in ("holders", "slaves", "queue", "device"):
            (directory / made).mkdir()
        for key, value in {"dev": number, "size": size // 512, "ro": 0, **values}.items():
            (directory / key).write_text(f"{value}\n")
        (self.root / "sys/dev/block" / number).symlink_to(directory)
        # A text file in the place of a device has what udev knows.
        (self.root / "dev" / name).write_text("".join(f"{key}={value}\n" for key, value in udev.items()))

    def disk(self, name, size, *parts, ro=0, removable=0, vendor="", kind=0, sector=512, bus="", **udev):
        """`parts`: dictionaries with what udev knows of each partition; `kind`: of SCSI device; `bus`: "usb1" or none."""
        directory = self.root / "sys/devices" / name
        self._device(directory, name, size, udev, {"ro": ro, "removable": removable})
        if bus:
            # lsblk takes the transport from where this link of the SCSI device goes to.
            number = f"{self.count}:0:0:0"
            scsi = self.root / "sys/devices" / bus / number
            scsi.parent.mkdir(parents=True, exist_ok=True)
            (directory / "device").rename(scsi)
            (directory / "device").symlink_to(scsi)
            (self.root / "sys/bus/scsi/devices").mkdir(parents=True, exist_ok=True)
            (self.root / "sys/bus/scsi/devices" / number).symlink_to(scsi)
        (directory / "device/vendor").write_text(f"{vendor}\n")
        (directory / "device/type").write_text(f"{kind}\n")
        (directory / "queue/logical_block_size").write_text(f"{sector}\n")
        (self.root / "sys/block" / name).symlink_to(directory)
        for number, known in enumerate(parts, 1):
            self._device(directory / f"{name}{number}", f"{name}{number}", MIB, known,
                         {"partition": number, "start": 2048 * number})
        return self

    def mapped(self, name, below, **udev):
        """A device-mapper device on another device."""
        directory = self.root / "sys/devices" / name
        self._device(directory, name, 1024 * MIB, udev, {"removable": 0})
        (directory / "dm").mkdir()
        (directory / "dm/name").write_text("volume\n")
        (directory / "dm/uuid").write_text("LVM-1\n")
        (self.root / "sys/block" / name).symlink_to(directory)
        lower = next(self.root.glob(f"sys/devices/**/{below}"))
        (lower / "holders" / name).symlink_to(directory)
        (directory / "slaves" / below).symlink_to(lower)
        return self
