// SPDX-License-Identifier: Apache-2.0
// Stand-in for the setuid program nvidia-modprobe, for edgegpu's lab. It does nothing, on purpose: it runs as root.
int main(void)
{
    return 0;
}
