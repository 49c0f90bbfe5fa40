// SPDX-License-Identifier: Apache-2.0
// Every shared library of the lab's NVIDIA packages is this one function under the real library's
// name.
const char* edgegpu_lab_standin(void) {
    return "stand-in of edgegpu's lab";
}
