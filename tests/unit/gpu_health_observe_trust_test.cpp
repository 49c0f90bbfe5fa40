#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health/observe/der.hpp"
#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_literals;

constexpr const char* secure_boot =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
constexpr const char* mok_variable =
    "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";

TEST(GpuHealthTrust, IsEnforcedByTheKernelOrLockdown) {
    const MachineTree tree;
    tree.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    tree.write("sys/module/module/parameters/sig_enforce", "N\n");
    EXPECT_FALSE(tree.observed(Step::module).trust.enforced);
    EXPECT_EQ(tree.observed(Step::module).trust.lockdown, "none");
    tree.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_TRUE(tree.observed(Step::module).trust.enforced);
    tree.write("sys/kernel/security/lockdown", "no ] brackets [");
    EXPECT_EQ(tree.observed(Step::module).trust.lockdown, "");
    tree.write("sys/module/module/parameters/sig_enforce", "Y\n");
    EXPECT_TRUE(tree.observed(Step::module).trust.enforced);
}

TEST(GpuHealthTrust, KnowsSecureBoot) {
    const MachineTree tree;
    EXPECT_FALSE(tree.observed(Step::module).trust.secure_boot.has_value());
    tree.write(secure_boot, "\6\0\0\0"s);
    EXPECT_FALSE(tree.observed(Step::module).trust.secure_boot.has_value());
    tree.write(secure_boot, "\6\0\0\0\0"s);
    EXPECT_EQ(tree.observed(Step::module).trust.secure_boot, false);
    tree.write(secure_boot, "\6\0\0\0\1"s);
    EXPECT_EQ(tree.observed(Step::module).trust.secure_boot, true);
}

TEST(GpuHealthTrust, HasTheKernelsKeys) {
    const MachineTree tree;
    EXPECT_FALSE(tree.observed(Step::module).trust.keys_known);
    tree.write(
        "proc/keys",
        "0211fd4f I------     1 perm 0f0b0000     0     0 keyring   .blacklist: empty\n"
        "0aa38c0e I------     1 perm 1f030000     0     0 asymmetri Debian Secure Boot CA: "
        "6ccece7e4c6c0d1f6149f3dd27dfcc5cbb419ea1: X509.rsa bb419ea1 []\n"
        "15ea0d5c I------     1 perm 1f030000     0     0 asymmetri Microsoft Corporation: "
        "Microsoft "
        "UEFI CA 2023: 81aa6b3244c935bce0d6628af39827421e32497d: X509.rsa 1e32497d []\n"
        // A certificate without a subject key id is described by its serial number.
        "2b0c1d3e I------     1 perm 1f030000     0     0 asymmetri old key: 00c0ffee: X509.rsa "
        "[]\n"
        "2b0c1d3f I------     1 perm 1f030000     0     0 asymmetri renamed: X509.ecdsa-nist-p384 "
        "0badcafe []\n"
        "2b0c1d40 I------     1 perm 1f030000     0     0 asymmetri pgp: PGP.rsa 00000000 []\n"
        "2b0c1d41 I------     1 perm 1f030000     0     0 asymmetri : X509.\n"
        " asymmetri \n asymmetri x: X509.");
    const ModuleTrust trust = tree.observed(Step::module).trust;
    EXPECT_TRUE(trust.keys_known);
    EXPECT_THAT(trust.keys,
                ElementsAre("6CCECE7E4C6C0D1F6149F3DD27DFCC5CBB419EA1",
                            "81AA6B3244C935BCE0D6628AF39827421E32497D", "00C0FFEE", "0BADCAFE"));
    EXPECT_THAT(trust.names, ElementsAre("Debian Secure Boot CA",
                                         "Microsoft Corporation: Microsoft UEFI CA 2023", "old key",
                                         "renamed", "", "x"));
}

TEST(GpuHealthTrust, HasWhatWasEnrolledByHand) {
    const std::string list = MachineTree::data("keys/MokListRT");
    const auto own = ElementsAre("C0FFEE12345678", "25AB63A471C353E40487D6B3E9E4F42F9FFACF94");
    const MachineTree tree;
    tree.write(mok_variable, "\6\0\0\0"s + list);
    EXPECT_THAT(tree.observed(Step::module).trust.enrolled, own);
    tree.write("sys/firmware/efi/mok-variables/MokListRT", "");
    EXPECT_THAT(tree.observed(Step::module).trust.enrolled, IsEmpty());
    tree.write("sys/firmware/efi/mok-variables/MokListRT", list);
    EXPECT_THAT(tree.observed(Step::module).trust.enrolled, own);
    // The last list has the certificate: without its end there is none.
    for (std::size_t size = 0; size < list.size(); size += 5) {
        tree.write("sys/firmware/efi/mok-variables/MokListRT", list.substr(0, size));
        EXPECT_THAT(tree.observed(Step::module).trust.enrolled, IsEmpty()) << size;
    }
}

TEST(GpuHealthTrust, SurvivesListsWithWrongSizes) {
    const std::string list = MachineTree::data("keys/MokListRT");
    const MachineTree tree;
    // The three sizes of both lists; the first ends after two hashes of 48 bytes.
    for (const std::size_t start : {std::size_t{16}, std::size_t{28 + 96 + 16}}) {
        for (std::size_t at = start; at < start + 12; ++at) {
            for (const char byte : {'\0', '\x10', '\xff'}) {
                std::string damaged = list;
                damaged[at] = byte;
                tree.write("sys/firmware/efi/mok-variables/MokListRT", damaged);
                EXPECT_LE(tree.observed(Step::module).trust.enrolled.size(), 200U);
            }
        }
    }
}

TEST(GpuHealthSigner, IsNamedByEachKindOfMessage) {
    const auto signer = signer_of(MachineTree::data("keys/keyid.p7"));
    ASSERT_TRUE(signer);
    EXPECT_EQ(signer->name, "");
    EXPECT_EQ(signer->key_id, "25AB63A471C353E40487D6B3E9E4F42F9FFACF94");
    const auto issuer = signer_of(MachineTree::data("keys/serial.p7"));
    ASSERT_TRUE(issuer);
    // As `openssl x509 -nameopt RFC2253` writes it.
    EXPECT_EQ(issuer->name, "CN=GPU modules,OU=Edge,O=Example: Fleet");
    EXPECT_EQ(issuer->key_id, "C0FFEE12345678");
}

TEST(GpuHealthSigner, IsNoneOfADamagedMessage) {
    for (const char* name : {"keys/keyid.p7", "keys/serial.p7", "keys/debian.p7"}) {
        const std::string message = MachineTree::data(name);
        for (std::size_t at = 0; at < message.size(); ++at) {
            EXPECT_FALSE(signer_of(message.substr(0, at))) << name << at;
            for (int byte = 0; byte < 256; byte += 5) {
                std::string damaged = message;
                damaged[at] = static_cast<char>(byte);
                static_cast<void>(signer_of(damaged));
                static_cast<void>(ids_of_certificate(damaged));
            }
        }
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
