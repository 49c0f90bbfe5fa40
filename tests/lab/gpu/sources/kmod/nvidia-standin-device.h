/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The character device of the stand-in modules nvidia.ko and nvidia-uvm.ko: one page that is read,
 * written and mapped. */
#ifndef EDGEGPU_LAB_NVIDIA_STANDIN_DEVICE_H
#define EDGEGPU_LAB_NVIDIA_STANDIN_DEVICE_H

#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

static struct page* nvidia_standin_page;

static ssize_t nvidia_standin_read(struct file* file, char __user* to, size_t length, loff_t* at) {
    return simple_read_from_buffer(to, length, at, page_address(nvidia_standin_page), PAGE_SIZE);
}

static ssize_t nvidia_standin_write(struct file* file, const char __user* from, size_t length,
                                    loff_t* at) {
    return simple_write_to_buffer(page_address(nvidia_standin_page), PAGE_SIZE, at, from, length);
}

static int nvidia_standin_mmap(struct file* file, struct vm_area_struct* area) {
    if (area->vm_end - area->vm_start != PAGE_SIZE || area->vm_pgoff != 0)
        return -EINVAL;
    return vm_insert_page(area, area->vm_start, nvidia_standin_page);
}

static const struct file_operations nvidia_standin_operations = {
    .owner = THIS_MODULE,
    .read = nvidia_standin_read,
    .write = nvidia_standin_write,
    .mmap = nvidia_standin_mmap,
};

/** Registers all minors of `major` (0: any that is free, which is returned); a negative error
 * number if that fails. */
static int nvidia_standin_register(unsigned int major, const char* name) {
    int result;

    nvidia_standin_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
    if (!nvidia_standin_page)
        return -ENOMEM;
    result = register_chrdev(major, name, &nvidia_standin_operations);
    if (result < 0)
        __free_page(nvidia_standin_page);
    return result;
}

static void nvidia_standin_unregister(unsigned int major, const char* name) {
    unregister_chrdev(major, name);
    __free_page(nvidia_standin_page);
}

#endif
