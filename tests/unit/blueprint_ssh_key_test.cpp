#include "blueprint/customizations/ssh_key.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {

namespace {

const std::string rsa =
    "AAAAB3NzaC1yc2EAAAADAQABAAABAQCxq4Spz8nt3pb245ZCWfUzt0yGh2f6CrbBAfrLQaIlUjg+"
    "Ogl6guTB0XcycnIASUe97zg8+6/PZn0vW6m2OPF8ISOtM8B27KqmFfe3slIoa3xFz9dssnI80zEthANP2Upim+FVYJe/"
    "tdMjhnavrAu/YhojPa3m/AcE25tF9NI+Rv4JXaiHxrxV/QhuR+aQ2udFGpORsD/"
    "H1xTjfYH7vy1vnMjhvjyOeVsMjc8LxEPMCGz/Fuy8ivBroK7x0A/"
    "zfH4hwu29tdk94dDZUh0UVJ97Uq5z+vczWKO01f0rO+iHk440mdpQoG2M2DtOKYYOb7zPQ2w5Pq86/LudPAeKA8V5";
const std::string rsa_1024 =
    "AAAAB3NzaC1yc2EAAAADAQABAAAAgQDtcEFwfYf3XC+3O4nYDDGQzfN9BvhQoN7/bvn08C8x/x0T+a2B"
    "EIy3RmITEfkUMEGwKCTzZhma6AbdWT5U0Kwt9ce55nRC6olaA9jJ3h2wax52EMtrc1KekgGH/3ej3QLO"
    "kZcsFAXL3SaN/3DADwpd+cy7T4XyyYgycl4WMf+X3w==";
const std::string dsa =
    "AAAAB3NzaC1kc3MAAACBAMZe8F62z1bi7IkGa6LtogOfbl+s8tAIHcAhZItv6UglcgWMeNLCkcpykYYc"
    "7///qKO5LQ0BnWhyw43M0uVUqfV33ZwpdjA1bdtgUCpIOCYO2gwaV1htHrfowrYcKcJonN2FpJUnNEJB"
    "/ZdjUuukVpfLjIaJH+Xl/MHWfUNX/ChZAAAAFQDFVa87m+/BEpLadh1Z1qfixqpzgwAAAIBK2ZIQILN8"
    "W9EcllC3tlKIKTRHgNVeYFULPmwqsK8l59SQrDhMlWk/Nla84cvfiZT6nFa7qXiOU40X4cej4B5b+uhj"
    "Za6ZhJLAIgKmu+5OWIU4GUzOyHHlgMht4D/QS8Jznq2XyPEcfner/HfpwRNreS71gXpuXEmNGyLVLwdI"
    "IAAAAIEAjUlbwYE8VHuF3ss7U1clH5L6RM7yFfst1fYf5h1gWMe3GDThXoSpoyTepbpajmTiLGuTUkgU"
    "/+uD/OATtXc0C1RmHIHZwH/0QWZSsMPe4iZix2dMTkAqHSq0u1jI+1li5Qgb4Km0XgZy8fUydS6G6GjI"
    "QGJcstc/TgULS5pTXRc=";
const std::string short_rsa =
    "AAAAB3NzaC1yc2EAAAADAQABAAAAQQDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM"
    "DAwMDAwMDAwMDAwMDAwMDA";
const std::string ecdsa =
    "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBAsgItaxDTIR1ik2b1yt9UPkmjouh+"
    "R5WwTsIQiQ3Fnwht+pT+9C9mCdalCsw3Yd6s4Zl5rTKHBCCkcIZCmyTE/51bcAMAkHhowzgQYE/"
    "ysngw2RXxtPYhHXq2Iqx12N3g==";
const std::string ed25519 = "AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";

std::string reason(const std::string& line) {
    return ssh_key_fault(line).reason;
}

}  // namespace

TEST(SshKey, WhatSshKeygenWritesIsRight) {
    EXPECT_EQ(reason("ssh-rsa " + rsa + " a@example.invalid"), "");
    EXPECT_EQ(reason("  ecdsa-sha2-nistp384\t" + ecdsa), "");
    EXPECT_EQ(reason("ssh-ed25519 " + ed25519 + " a comment of words"), "");
    EXPECT_EQ(reason(""), "");
    EXPECT_EQ(reason("# a comment"), "");
}

TEST(SshKey, OptionsMayStandBeforeIt) {
    EXPECT_EQ(reason("restrict ssh-ed25519 " + ed25519), "");
    EXPECT_EQ(reason("from=\"10.0.0.0/8\",command=\"echo \\\"a b\\\"\" ssh-rsa " + rsa), "");
    EXPECT_EQ(reason("command=\"open ssh-rsa " + rsa), "it is not a public SSH key");
}

TEST(SshKey, WhatIsNoneSaysWhy) {
    EXPECT_EQ(reason("ssh-key 1234"), "\"ssh-key\" is not a type of SSH key");
    EXPECT_EQ(ssh_key_fault("ssh-ed25518 " + ed25519).hint, "did you mean \"ssh-ed25519\"?");
    EXPECT_EQ(reason("<ssh public key>"), "it is not a public SSH key");
    EXPECT_EQ(reason(ed25519), "it is not a public SSH key");
    EXPECT_EQ(reason("ssh-rsa"), "\"ssh-rsa\" is not followed by a key");
    EXPECT_EQ(reason("ssh-rsa AAAAB3NzaC1yc2E... a"), "the ssh-rsa key is shortened (\"...\")");
    EXPECT_EQ(reason("ssh-rsa not,base64"), "the text after \"ssh-rsa\" is not base64");
    EXPECT_EQ(reason("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC a@b"), "the ssh-rsa key is cut off");
    EXPECT_EQ(reason("ssh-rsa " + rsa.substr(0, rsa.size() - 4)), "the ssh-rsa key is cut off");
    // Its last group lacks padding, or has bits that sshd does not take; no byte of it is missing.
    const std::string base64 =
        "the base64 of the ecdsa-sha2-nistp384 key is cut off or damaged at its end";
    ASSERT_TRUE(ecdsa.ends_with('='));
    EXPECT_EQ(reason("ecdsa-sha2-nistp384 " + ecdsa.substr(0, ecdsa.size() - 1) + " a@b"), base64);
    std::string bits = ecdsa;
    ++bits[bits.find('=') - 1];
    EXPECT_EQ(reason("ecdsa-sha2-nistp384 " + bits), base64);
    EXPECT_EQ(reason("ssh-rsa " + ed25519), "the key is of type ssh-ed25519, not ssh-rsa");
    EXPECT_EQ(reason("ssh-ed25519 " + ed25519 + "AAAA"), "the ssh-ed25519 key is damaged");
    EXPECT_EQ(reason("ecdsa-sha2-nistp256 " + ecdsa),
              "the key is of type ecdsa-sha2-nistp384, not ecdsa-sha2-nistp256");
    EXPECT_EQ(reason("ssh-ed25519 AAAA"), "the ssh-ed25519 key is cut off");
    const std::string too_short =
        " bits is too short: sshd of Enterprise Linux 9 rejects those below 2048";
    EXPECT_EQ(reason("ssh-rsa " + short_rsa), "an RSA key of 512" + too_short);
    EXPECT_EQ(reason("ssh-rsa " + rsa_1024), "an RSA key of 1024" + too_short);
    EXPECT_EQ(reason("ssh-dss " + dsa), "sshd rejects DSA keys");
    EXPECT_EQ(reason("-----BEGIN OPENSSH PRIVATE KEY-----"), "it is a private key");
}

}  // namespace edgegpu
