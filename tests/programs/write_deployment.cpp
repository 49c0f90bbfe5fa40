/// Writes the root file system and that of /boot of a commit into two files, as they are in the
/// partitions of a disk: for comparisons with what ostree makes of the same commit.
///
/// write_deployment REPOSITORY COMMIT STATEROOT ROOT_FILE BOOT_FILE [KERNEL_ARGUMENT...]
/// Injected are the files of the environment variable INJECT, a line each: "PATH=CONTENT" with "\n"
/// for the ends of lines, "PATH->TARGET" for a symbolic link, "PATH/" for a directory. With EXACT
/// set, the file systems are as small as the plan says that they can be.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "disk/deployment.hpp"
#include "disk/identity.hpp"
#include "log/console.hpp"
#include "support/error.hpp"

namespace {

using namespace edgegpu;

constexpr std::uint64_t mib = 1U << 20U;

std::string with_newlines(std::string text) {
    for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
        text.replace(at, 2, "\n");
    }
    return text;
}

Injection injection() {
    Injection files;
    const char* given = std::getenv("INJECT");
    std::string text = given == nullptr ? "" : given;
    while (!text.empty()) {
        const std::string line = text.substr(0, text.find('\n'));
        text.erase(0, line.size() + 1);
        const std::size_t arrow = line.find("->");
        const std::size_t equals = std::min(line.find('='), line.size());
        Injected injected;
        if (arrow < equals) {
            injected = {Injected::Type::symlink, line.substr(0, arrow), line.substr(arrow + 2)};
        } else if (line.ends_with('/')) {
            injected = {Injected::Type::directory, line.substr(0, line.size() - 1), "", 0750, 5, 6};
        } else {
            injected = {Injected::Type::file, line.substr(0, equals),
                        with_newlines(line.substr(equals + 1))};
        }
        files.push_back(injected);
    }
    return files;
}

Ext4Format format(const DiskIdentity& identity, const char* purpose, std::uint64_t size,
                  const DeploymentPlan& plan) {
    return {0,
            size,
            identity.uuid(std::string("file system ") + purpose),
            identity.uuid(std::string("hash seed ") + purpose),
            purpose,
            plan.time};
}

void make_file(const std::filesystem::path& path, std::uint64_t size) {
    std::ofstream(path, std::ios::trunc).close();
    std::filesystem::resize_file(path, size);
}

void write(int count, char** arguments) {
    Console console(Color::never, true);
    Context ctx;
    ctx.console = &console;
    ctx.jobs = std::thread::hardware_concurrency();
    const RepositoryView repository(arguments[1]);
    const CommitView commit = repository.open(arguments[2]);
    DiskRequest request;
    request.ref = arguments[2];
    request.stateroot = arguments[3];
    request.kernel_arguments.assign(arguments + 6, arguments + count);
    request.injection = injection();
    const DeploymentPlan plan = plan_deployment(ctx, repository, commit, request);
    const DiskIdentity identity(plan.commit, request);
    const char* exact = std::getenv("EXACT");
    const std::uint64_t root_size =
        exact != nullptr ? plan.root_bytes : plan.root_bytes + 2048 * mib;
    const std::uint64_t boot_size = exact != nullptr ? plan.boot_bytes : 512 * mib;
    make_file(arguments[4], root_size);
    make_file(arguments[5], boot_size);
    const Ext4Format root_format = format(identity, "root", root_size, plan);
    const Ext4Format boot_format = format(identity, "boot", boot_size, plan);
    Ext4Writer root(ctx, arguments[4], root_format);
    Ext4Writer boot(ctx, arguments[5], boot_format);
    const ImageLabels labels(ctx, commit);
    DeploymentFileSystems disk{root, boot, {}};
    write_deployment(ctx, repository, commit, plan, request,
                     {root_format.uuid, boot_format.uuid, "", "none", {}, {}}, labels, disk);
    std::printf("root %llu of %llu free, boot %llu of %llu free\n",
                static_cast<unsigned long long>(root.free_bytes()),
                static_cast<unsigned long long>(root_size),
                static_cast<unsigned long long>(boot.free_bytes()),
                static_cast<unsigned long long>(boot_size));
    root.finish();
    boot.finish();
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 6) {
        std::fputs(
            "write_deployment REPOSITORY COMMIT STATEROOT ROOT_FILE BOOT_FILE [ARGUMENT...]\n",
            stderr);
        return 2;
    }
    try {
        write(count, arguments);
    } catch (const Error& failure) {
        std::fputs(failure.render().c_str(), stderr);
        return failure.exit_status();
    }
    return 0;
}
