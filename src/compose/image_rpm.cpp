#include "compose/image_rpm.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compose/rpmdb_process.hpp"
#include "compose/stable_database.hpp"
#include "image/image_root.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* rpm_program = "/usr/bin/rpm";
constexpr const char* rpmdb_program = "/usr/bin/rpmdb";
constexpr const char* database_place = "/usr/share/rpm";
/// Where the image's rpmdb writes.
constexpr const char* place_in_sandbox = "/run/edgegpu/rpmdb";
constexpr std::uint64_t largest_file = 2ULL << 30U;

/// Precedes a line of ours: rpm may print warnings to the same output.
constexpr std::string_view line_mark = "edgegpu:";

/// "edgegpu:BACKEND:PLACE"; a macro that is not defined stays as it is, or is empty.
constexpr const char* question = "edgegpu:%{?_db_backend}:%{_dbpath}";
/// One line for each package, with an epoch of 0 for those without.
constexpr const char* listing =
    "edgegpu:%{NAME}-%|EPOCH?{%{EPOCH}}:{0}|:%{VERSION}-%{RELEASE}.%{ARCH}\\n";

SandboxCommand program_of(const Tree& tree, std::vector<std::string> argv) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.argv = std::move(argv);
    return command;
}

Error failed(const SandboxCommand& command, const ProcessResult& result) {
    Error problem = error("{} of the image failed with exit status {}",
                          fmt::join(command.argv, " "), result.status);
    for (std::string& line : last_lines(result.output, 20)) {
        problem.traced(std::move(line));
    }
    return problem;
}

/// Lines of the output that have the mark, without it.
std::vector<std::string> marked_lines(std::string_view output) {
    std::vector<std::string> found;
    while (!output.empty()) {
        const std::string_view line = take_line(output);
        if (line.starts_with(line_mark)) {
            found.emplace_back(line.substr(line_mark.size()));
        }
    }
    return found;
}

/// Whether a file of the directory belongs to the database: neither lock nor shared memory of
/// Berkeley DB.
bool is_database_file(std::string_view name) {
    return !name.starts_with('.') && !name.starts_with("__db.");
}

void import_headers(const Context& ctx, const Tree& tree, const fs::path& headers,
                    const fs::path& place) {
    SandboxCommand command =
        program_of(tree, {"rpmdb", "--dbpath", place_in_sandbox, "--importdb"});
    command.input = read_file(headers);
    command.writable_binds = {{place, place_in_sandbox}};
    if (const ProcessResult result = run_in_sandbox(ctx, command); result.status != 0) {
        throw failed(command, result);
    }
}

/// Lets the library that wrote the files look through them, in a copy: it locks them for that.
void verify_files(const Context& ctx, const Tree& tree, const fs::path& place) {
    SandboxCommand command =
        program_of(tree, {"rpmdb", "--dbpath", place_in_sandbox, "--verifydb"});
    command.writable_binds = {{place, place_in_sandbox}};
    if (const ProcessResult result = run_in_sandbox(ctx, command); result.status != 0) {
        throw failed(command, result);
    }
}

}  // namespace

std::optional<ImageRpm> ask_image_rpm(const Context& ctx, const Tree& tree, bool required) {
    if (find_entry(tree, rpm_program) == nullptr) {
        return std::nullopt;
    }
    const SandboxCommand command = program_of(tree, {"rpm", "--eval", question});
    const ProcessResult result = run_in_sandbox(ctx, command);
    const std::vector<std::string> answers = marked_lines(result.output);
    if (result.status != 0 || answers.size() != 1) {
        if (required) {
            throw failed(command, result);
        }
        return std::nullopt;
    }
    const std::size_t colon = std::min(answers.front().find(':'), answers.front().size());
    ImageRpm rpm{answers.front().substr(0, colon), answers.front().substr(colon + 1)};
    if (rpm.backend.empty()) {
        rpm.backend = "bdb";
    }
    return rpm;
}

PackageDatabase convert_rpmdb(const Context& ctx, const Tree& tree, const ImageRpm& rpm,
                              const PackageDatabase& written, const fs::path& scratch) {
    if (rpm.backend == "sqlite") {
        return written;
    }
    if (find_entry(tree, rpmdb_program) == nullptr) {
        throw error("the image's rpm keeps its packages in {}, and the image has no {} to write it",
                    rpm.backend, rpmdb_program)
            .hinted("add the package that contains it, or leave rpm out");
    }
    remove_tree(scratch);
    // Programs of the image write to the one, and what becomes of it lies in the other.
    const fs::path theirs = scratch / "image";
    PackageDatabase stable{scratch / "stable", {}};
    make_writable_directory(theirs);
    make_directories(stable.directory);
    import_headers(ctx, tree, written.directory / headers_name, theirs);
    {
        const ImageRoot place(theirs);
        for (const std::string& name : place.list("/")) {
            const std::string path = "/" + name;
            if (!is_database_file(name)) {
                place.remove(path);
                continue;
            }
            const std::string content =
                stable_database_file(place.read(path, largest_file, LastLink::not_followed), name,
                                     ctx.source_date_epoch);
            write_file(stable.directory / name, content);
            place.write(path, content, {0, 0, 0644, {}});
            stable.files.push_back(name);
        }
    }
    if (rpm.backend == "bdb") {  // ndb has no verification
        verify_files(ctx, tree, theirs);
    }
    return stable;
}

void point_rpm_to_database(const Context& ctx, Tree& tree, const ImageRpm& rpm) {
    if (rpm.place != database_place) {
        put_entry(tree, "/usr/lib/rpm/macros.d/macros.rpm-ostree",
                  make_file_entry(ctx, fmt::format("%_dbpath {}\n", database_place), 0644));
    }
}

void check_rpmdb(const Context& ctx, const Tree& tree,
                 const std::vector<ImportedPackage>& packages) {
    SandboxCommand command = program_of(tree, {"rpm", "-qa", "--queryformat", listing});
    command.read_only_root = true;
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != 0) {
        throw failed(command, result);
    }
    std::vector<std::string> listed = marked_lines(result.output);
    // Keys that a parent's database has are no packages.
    std::erase_if(listed, [](const std::string& line) { return line.starts_with("gpg-pubkey-"); });
    std::vector<std::string> expected;
    for (const ImportedPackage& package : packages) {
        const Nevra& nevra = package.nevra;
        expected.push_back(fmt::format("{}-{}:{}-{}.{}", nevra.name, nevra.epoch, nevra.version,
                                       nevra.release, nevra.arch));
    }
    std::ranges::sort(listed);
    std::ranges::sort(expected);
    std::vector<std::string> different;
    std::set_symmetric_difference(listed.begin(), listed.end(), expected.begin(), expected.end(),
                                  std::back_inserter(different));
    if (!different.empty()) {
        throw error("the image's rpm lists {} packages instead of {} from the database in {}",
                    listed.size(), expected.size(), database_place)
            .traced(fmt::format("the first that differs: {}", different.front()));
    }
}

}  // namespace edgegpu
