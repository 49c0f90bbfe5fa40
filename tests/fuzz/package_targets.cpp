#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include <rpm/rpmlog.h>
#include "compose/stable_database.hpp"
#include "customise/images/storage_conf.hpp"
#include "customise/initramfs/initramfs_contents.hpp"

#include "fetch/package_content.hpp"
#include "fuzz/targets.hpp"
#include "image/account_files.hpp"
#include "image/capabilities.hpp"
#include "kmods/dkms_conf.hpp"
#include "kmods/module_file.hpp"
#include "rootfs/manifest.hpp"
#include "rootfs/rpm_header.hpp"
#include "rootfs/shims.hpp"
#include "rootfs/unpack.hpp"
#include "selinux/store/calls.hpp"
#include "selinux/store/store.hpp"
#include "support/files/digest.hpp"

namespace edgegpu::fuzz {

void read_accounts(std::string_view data) {
    static_cast<void>(parse_numbers(data));
    const AccountFile accounts = parse_accounts(data);
    static_cast<void>(accounts.text());
    for (const AccountFile::Row& row : accounts.rows) {
        read_or_refuse([&] { static_cast<void>(account_id(row)); });
        for (const std::string& field : row) {
            static_cast<void>(split_members(field));
        }
    }
}

void read_calls(std::string_view data) {
    read_or_refuse([&] {
        std::set<selinux::ModuleId> modules;
        selinux::Transaction transaction;
        for (const auto& call : parse_calls(std::string(data))) {
            read_or_refuse([&] { selinux::add_call(transaction, call, modules, "targeted"); });
        }
    });
}

void read_capabilities(std::string_view data) {
    read_or_refuse([&] { static_cast<void>(parse_capabilities(data)); });
    read_or_refuse([&] { static_cast<void>(without_namespace(std::string(data), "/x")); });
}

void read_dkms_conf(std::string_view data) {
    read_or_refuse([&] { static_cast<void>(parse_dkms_conf(data, "dkms.conf")); });
}

void read_initramfs(std::string_view data) {
    read_or_refuse([&] { static_cast<void>(edgegpu::read_initramfs(data, "initramfs.img")); });
}

void read_kernel_module(std::string_view data) {
    read_or_refuse([&] {
        const std::string content = unpack_module(std::string(data), "x.ko");
        const ModuleInfo info = read_module(content, "x.ko");
        static_cast<void>(info.kernel());
        if (info.signature) {
            static_cast<void>(info.signature->text());
            static_cast<void>(signature_fits(content, *info.signature, content));
        }
    });
}

void read_package_database(std::string_view data) {
    read_or_refuse([&] {
        const std::string stable = stable_database_file(std::string(data), "Name", 1700000000);
        if (stable_database_file(stable, "Name", 1700000000) != stable) {
            std::abort();
        }
    });
}

void read_package_manifest(std::string_view data) {
    constexpr std::string_view magic = "edgegpu import 2\n";
    const std::string body = std::string(magic) + std::string(data);
    // Behind its seal, as nobody else would come so far.
    read_or_refuse([&] { static_cast<void>(parse_manifest(body + sha256_hex(body), "/x")); });
    read_or_refuse([&] { static_cast<void>(parse_manifest(std::string(data), "/x")); });
}

void read_rpm(std::string_view data) {
    const auto path = scratch_file("x.rpm", data);
    const auto directory = scratch() / "unpacked";
    std::filesystem::remove_all(directory);
    PackageFile package;
    package.package.nevra = {"x", 0, "1", "1", "x86_64"};
    package.path = path;
    package.sha256 = sha256_hex(data);
    package.content = std::make_shared<PackageContent>(path);
    Context ctx;
    ctx.cache = scratch() / "cache";
    rpmlogSetMask(RPMLOG_MASK(RPMLOG_EMERG));
    read_or_refuse([&] { unpack_package(ctx, package, directory, directory); });
}

void read_rpm_header_blob(std::string_view data) {
    read_or_refuse([&] {
        const RpmHeader header = load_header(std::string(data), "x");
        for (const rpmTagVal tag : {RPMTAG_NAME, RPMTAG_POSTIN, RPMTAG_BASENAMES}) {
            static_cast<void>(header_string(header.get(), tag));
            static_cast<void>(header_strings(header.get(), tag));
        }
        for (const rpmTagVal tag : {RPMTAG_EPOCH, RPMTAG_FILEMODES, RPMTAG_LONGFILESIZES}) {
            static_cast<void>(header_number(header.get(), tag));
            static_cast<void>(header_numbers(header.get(), tag));
        }
        static_cast<void>(export_header(header.get()));
    });
}

void read_storage_conf(std::string_view data) {
    read_or_refuse([&] {
        const std::string text(data);
        static_cast<void>(replaces_image_stores(text, "storage.conf"));
        static_cast<void>(user_storage_conf(text, "/store", "storage.conf"));
        const std::string once = with_image_store(text, "/store", "storage.conf");
        if (with_image_store(once, "/store", "storage.conf") != once) {
            std::abort();
        }
    });
}

}  // namespace edgegpu::fuzz
