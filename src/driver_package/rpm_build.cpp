#include "driver_package/rpm_build.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "execution/process.hpp"
#include "execution/program_path.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Nothing of what rpm of a distribution does to files: they are the vendor's, and checked by
/// their digests. Zstandard, which EL 8 reads, decompresses quickly.
constexpr const char* preamble = R"(%global debug_package %{nil}
%global _build_id_links none
%global __os_install_post %{nil}
%global __brp_ldconfig %{nil}
%global _missing_build_ids_terminate_build 0
%global _binary_payload w3.zstdio
%global _buildhost localhost
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global build_mtime_policy clamp_to_source_date_epoch
# One of two libraries for PKCS#11 is for the OpenSSL that the image has; the driver looks for it itself.
%global __requires_exclude ^libcrypto\\.so
)";

/// Not those of /etc/rpm and of the distribution, by which packages would differ.
constexpr const char* rpms_own_macros =
    "/usr/lib/rpm/macros:/usr/lib/rpm/platform/%{_target}/macros:/usr/lib/rpm/fileattrs/*.attr";

/// Where %install finds the files.
constexpr const char* staged_variable = "EDGEGPU_STAGED";

/// A path as the value of a macro.
std::string macro_value(const fs::path& path) {
    return sum_of(path.string(), [](char c) { return c == '%' ? "%%" : std::string(1, c); });
}

/// Programs run with what they need, and nothing of the user's settings.
std::vector<std::string> environment(const fs::path& home, std::int64_t time) {
    return {fmt::format("PATH={}", standard_path),
            "HOME=" + home.string(),
            "TMPDIR=" + home.string(),
            "LC_ALL=C",
            "TZ=UTC",
            fmt::format("SOURCE_DATE_EPOCH={}", time)};
}

void run_or_explain(const Context& ctx, const std::string& packages, ProcessRequest request) {
    const std::string program = request.argv.front();
    if (find_program(program, standard_path).empty()) {
        throw error("this machine has no {}", program)
            .hinted(fmt::format("install the package that has it: {}", packages));
    }
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("{} failed with exit status {}:\n  {}", program, result.status,
                    fmt::join(last_lines(result.output, 10), "\n  "));
    }
}

void add_tags(std::string& text, std::string_view tag, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
        text += fmt::format("{}: {}\n", tag, value);
    }
}

std::string package_text(const RpmPackage& package) {
    std::string text =
        fmt::format("\n%package -n {}\nSummary: {}\n", package.name, package.summary);
    if (!package.finds_libraries) {
        text += "AutoReqProv: no\n";
    }
    add_tags(text, "Requires", package.requirements);
    add_tags(text, "Requires(post)", package.post_requirements);
    add_tags(text, "Provides", package.provides);
    add_tags(text, "Conflicts", package.conflicts);
    text += fmt::format("%description -n {}\n{}.\n", package.name, package.summary);
    if (!package.post_install.empty()) {
        text += fmt::format("%post -n {}\n{}", package.name, package.post_install);
    }
    text += fmt::format("%files -n {}\n", package.name);
    for (const std::string& directory : package.directories) {
        text += fmt::format("%dir %attr(0755,root,root) \"{}\"\n", directory);
    }
    for (const RpmPackage::File& file : package.files) {
        const std::string_view kind = file.is_configuration ? "%config(noreplace) " : "";
        text += file.is_link
                    ? fmt::format("\"{}\"\n", file.path)
                    : fmt::format("%attr({:04o},root,root) {}\"{}\"\n", file.mode, kind, file.path);
    }
    return text;
}

}  // namespace

std::string spec_text(const RpmSource& source) {
    std::string text = preamble;
    text += fmt::format(
        "Name: {}\nEpoch: {}\nVersion: {}\nRelease: {}\nLicense: {}\nSummary: {}\n"
        "%description\n{}.\n",
        source.name, source.epoch, source.version, source.release, source.license,
        "NVIDIA's driver, of its run file", "NVIDIA's driver, of its run file");
    for (const RpmPackage& package : source.packages) {
        text += package_text(package);
    }
    // A path in the text would have to be quoted for the shell and for macros.
    text += fmt::format("\n%install\ncp -al \"${}/.\" \"$RPM_BUILD_ROOT\"\n", staged_variable);
    return text;
}

void build_rpms(const Context& ctx, const RpmSource& source, const fs::path& root,
                const fs::path& work, const fs::path& output) {
    make_directories(work);
    const fs::path spec = work / "driver.spec";
    write_file(spec, spec_text(source));
    ProcessRequest request;
    request.argv = {"rpmbuild", "-bb", "--target", source.architecture + "-linux",
                    fmt::format("--macros={}", rpms_own_macros)};
    for (const auto& [macro, value] :
         {std::pair<std::string, std::string>{"_topdir", macro_value(work)},
          {"_rpmdir", macro_value(output)},
          {"_rpmfilename", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"},
          {"_dbpath", macro_value(work / "db")},
          {"_tmppath", macro_value(work)}}) {
        request.argv.insert(request.argv.end(), {"--define", macro + " " + value});
    }
    request.argv.push_back(spec.string());
    request.env = environment(work, source.time);
    request.env.push_back(fmt::format("{}={}", staged_variable, root.string()));
    request.cwd = work;
    request.purpose = "packages of the driver";
    run_or_explain(ctx, "rpm (Debian), rpm-build (Fedora, RHEL)", std::move(request));
}

void make_repository(const Context& ctx, const fs::path& directory, std::int64_t time) {
    const timespec stamp{time, 0};
    const std::array both{stamp, stamp};
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        if (::utimensat(AT_FDCWD, entry.path().c_str(), both.data(), 0) != 0) {
            throw errno_error(entry.path().string(), errno);
        }
    }
    ProcessRequest request;
    request.argv = {"createrepo_c",
                    "--quiet",
                    "--checksum=sha256",
                    "--no-database",
                    "--simple-md-filenames",
                    "--set-timestamp-to-revision",
                    fmt::format("--revision={}", time),
                    directory.string()};
    request.env = environment(directory, time);
    request.purpose = "the repository of the driver's packages";
    run_or_explain(ctx, "createrepo-c (Debian), createrepo_c (Fedora, RHEL)", std::move(request));
}

}  // namespace edgegpu
