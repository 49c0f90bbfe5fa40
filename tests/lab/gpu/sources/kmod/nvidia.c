// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// Stand-in for NVIDIA's nvidia.ko: answers /proc/driver/nvidia/version. It binds to GPUs that
// answer (in QEMU that is lab-gpu's), and does nothing with them. Behind its device numbers is a
// page of zeros, so that access to device nodes can be tried.
#include "nvidia-standin.h"

#include "nvidia-standin-device.h"

#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define NVIDIA_MAJOR 195

static struct proc_dir_entry* directory;

const char* nvidia_standin_version(void) {
    return DRIVER_VERSION;
}
EXPORT_SYMBOL(nvidia_standin_version);

static int show_version(struct seq_file* out, void* unused) {
    seq_printf(out,
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  (stand-in of edgegpu's lab)\n",
               nvidia_standin_version());
    return 0;
}

static int standin_probe(struct pci_dev* gpu, const struct pci_device_id* unused) {
    u16 vendor = 0xffff;
    pci_read_config_word(gpu, PCI_VENDOR_ID, &vendor);
    if (vendor == 0xffff) {
        pr_err(
            "NVRM: The NVIDIA GPU %s has fallen off the bus and is not responding to commands.\n",
            pci_name(gpu));
        return -ENODEV;
    }
    return 0;
}

static const struct pci_device_id gpus[] = {
    {PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID), .class = PCI_CLASS_DISPLAY_VGA << 8,
     .class_mask = ~0U},
    {PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID), .class = PCI_CLASS_DISPLAY_3D << 8,
     .class_mask = ~0U},
    {}};

static struct pci_driver standin_driver = {
    .name = "nvidia", .id_table = gpus, .probe = standin_probe};

static int __init standin_init(void) {
    directory = proc_mkdir("driver/nvidia", NULL);
    if (!directory)
        return -ENOMEM;
    if (!proc_create_single("version", 0444, directory, show_version)) {
        proc_remove(directory);
        return -ENOMEM;
    }
    if (nvidia_standin_register(NVIDIA_MAJOR, "nvidia-frontend") < 0) {
        proc_remove(directory);
        return -EBUSY;
    }
    if (pci_register_driver(&standin_driver) < 0) {
        nvidia_standin_unregister(NVIDIA_MAJOR, "nvidia-frontend");
        proc_remove(directory);
        return -EBUSY;
    }
    pr_info("nvidia: stand-in %s loaded\n", DRIVER_VERSION);
    return 0;
}

static void __exit standin_exit(void) {
    pci_unregister_driver(&standin_driver);
    nvidia_standin_unregister(NVIDIA_MAJOR, "nvidia-frontend");
    proc_remove(directory);
}

module_init(standin_init);
module_exit(standin_exit);
STANDIN_MODULE("nvidia.ko");
MODULE_ALIAS("pci:v000010DEd*sv*sd*bc03sc00i00*");
MODULE_ALIAS("pci:v000010DEd*sv*sd*bc03sc02i00*");
