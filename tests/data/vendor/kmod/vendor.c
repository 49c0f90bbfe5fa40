// SPDX-License-Identifier: GPL-2.0
#include <linux/fs.h>
#include <linux/module.h>

static const struct file_operations operations = {.owner = THIS_MODULE};
static int major;

static int __init vendor_start(void) {
    major = register_chrdev(0, "vendor", &operations);
    pr_info("vendor: %d\n", major);
    return major < 0 ? major : 0;
}

static void __exit vendor_stop(void) {
    unregister_chrdev(major, "vendor");
}

module_init(vendor_start);
module_exit(vendor_stop);
MODULE_DESCRIPTION("Kernel module of edgegpu's tests");
MODULE_LICENSE("GPL");
