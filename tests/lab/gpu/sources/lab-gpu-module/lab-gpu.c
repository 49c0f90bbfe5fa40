// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// A PCI bus of its own with one function, which looks like a GPU of NVIDIA's: for machines in QEMU,
// which have none. With state=gone it has fallen off the bus: it was found, and every register
// reads as ones.
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pci.h>

/* 0000:65:00.0, as the stand-in for NVML has it (tests/stand_in); QEMU's own buses have low
 * numbers. */
#define LAB_GPU_BUS 0x65

static char* state = "good";
module_param(state, charp, 0444);
MODULE_PARM_DESC(state, "good, or gone: fallen off the bus");

static bool gone;
static struct pci_bus* bus;
static struct pci_sysdata sysdata = {.node = NUMA_NO_NODE};

/* The header that lspci shows for an H200: vendor and device, command and status, class and
 * revision, subsystem. No BARs. */
static const u32 header[16] = {
    [0] = 0x233510de, [1] = 0x00000000, [2] = 0x030200a1, [11] = 0x18be10de};

static int lab_gpu_read(struct pci_bus* on, unsigned int function, int where, int size,
                        u32* value) {
    *value = ~0U;
    if (function != 0 || gone)
        return PCIBIOS_DEVICE_NOT_FOUND;
    *value = where < (int)sizeof(header) ? header[where / 4] >> (where % 4 * 8) : 0;
    if (size < 4)
        *value &= (1U << (size * 8)) - 1;
    return PCIBIOS_SUCCESSFUL;
}

static int lab_gpu_write(struct pci_bus* on, unsigned int function, int where, int size,
                         u32 value) {
    return function != 0 || gone ? PCIBIOS_DEVICE_NOT_FOUND : PCIBIOS_SUCCESSFUL;
}

static struct pci_ops operations = {.read = lab_gpu_read, .write = lab_gpu_write};

static int __init lab_gpu_init(void) {
    LIST_HEAD(resources);
    bus = pci_scan_root_bus(NULL, LAB_GPU_BUS, &operations, &sysdata, &resources);
    if (!bus)
        return -ENODEV;
    if (!strcmp(state, "gone")) {
        gone = true;
        /* As NVIDIA's driver says it. */
        pr_err(
            "NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
            "the bus.\n");
    }
    pci_bus_add_devices(bus);
    return 0;
}

static void __exit lab_gpu_exit(void) {
    pci_lock_rescan_remove();
    pci_stop_root_bus(bus);
    pci_remove_root_bus(bus);
    pci_unlock_rescan_remove();
}

module_init(lab_gpu_init);
module_exit(lab_gpu_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("edgegpu");
MODULE_DESCRIPTION("A PCI function like a GPU, for edgegpu's lab");
