#include <toml++/toml.h>

#include "oci/reference.hpp"
#include "resolve/resolution.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"
#include "support/ranges.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// In format 2 `why` is a table, in format 1 a text.
constexpr std::int64_t lock_format = 2;

/// Reads a table of the lockfile; errors name file and line.
class LockTable {
public:
    LockTable(const std::string& file, const toml::table& table) : file_(file), table_(table) {}

    /// The subtable `key`.
    [[nodiscard]] LockTable inner(const std::string& key) const {
        const toml::node* node = table_.get(key);
        if (node == nullptr || !node->is_table()) {
            throw complain(key, node == nullptr ? "is missing" : "is not a table");
        }
        return {file_, *node->as_table()};
    }

    [[nodiscard]] Error complain(const std::string& key, const char* what) const {
        const toml::node* node = table_.get(key);
        const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
        return error(ErrorKind::usage, "{}:{}: '{}' {}", file_, line, key, what)
            .hinted("create the lockfile again: edgegpu build --lock FILE without --locked");
    }
    [[nodiscard]] std::string text(const std::string& key, bool may_lack = false) const {
        const toml::node* node = table_.get(key);
        if (node == nullptr && may_lack) {
            return {};
        }
        if (node == nullptr || !node->is_string()) {
            throw complain(key, node == nullptr ? "is missing" : "is not a string");
        }
        return **node->as_string();
    }
    [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
        const toml::array* array = table_[key].as_array();
        if (array == nullptr || !array->is_homogeneous(toml::node_type::string)) {
            if (array == nullptr || !array->empty()) {
                throw complain(key, "is not an array of strings");
            }
            return {};
        }
        return mapped(*array, [](const toml::node& item) { return **item.as_string(); });
    }
    [[nodiscard]] const toml::table& table() const { return table_; }
    [[nodiscard]] std::int64_t number(const std::string& key) const {
        const toml::node* node = table_.get(key);
        if (node == nullptr || !node->is_integer() || **node->as_integer() < 0) {
            throw complain(key, "is not a number of at least 0");
        }
        return **node->as_integer();
    }
    [[nodiscard]] std::string digest(const std::string& key) const {
        std::string value = text(key);
        if (!is_sha256(value)) {
            throw complain(key, "is not a SHA-256");
        }
        return value;
    }

    /// `checksum`, or `sha256` in lockfiles of older versions.
    [[nodiscard]] Checksum checksum() const {
        if (!table_.contains("checksum") && table_.contains("sha256")) {
            return {ChecksumAlgorithm::sha256, digest("sha256")};
        }
        try {
            return parse_checksum(text("checksum"));
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::usage) {
                throw;
            }
            throw complain("checksum", ("is invalid: " + problem.message()).c_str());
        }
    }

private:
    const std::string& file_;
    const toml::table& table_;
};

Nevra read_nevra(const LockTable& reader) {
    Nevra nevra;
    nevra.name = reader.text("name");
    const std::int64_t epoch = reader.number("epoch");
    if (epoch > UINT32_MAX) {
        throw reader.complain("epoch", "is too large");
    }
    nevra.epoch = static_cast<std::uint32_t>(epoch);
    nevra.version = reader.text("version");
    nevra.release = reader.text("release");
    nevra.arch = reader.text("arch");
    return nevra;
}

/// A text that is shown in messages and therefore must be one line.
std::string read_words(const LockTable& reader, const std::string& key) {
    std::string words = reader.text(key);
    if (printable_line(words) != words) {
        throw reader.complain(key, "contains a control character");
    }
    return words;
}

Reason read_reason(const LockTable& reader, std::int64_t format) {
    if (format == 1) {
        return reason_in_words(read_words(reader, "why"));
    }
    const LockTable fields = reader.inner("why");
    const auto kind = value_named<Reason::Kind>(fields.text("kind"));
    if (!kind) {
        throw fields.complain("kind", "is not a known kind of reason");
    }
    Reason reason{*kind};
    for (const ReasonField& field : reason_fields(*kind)) {
        reason.*field.value = read_words(fields, field.key);
    }
    return reason;
}

void append_reason(std::string& out, const Reason& reason) {
    out += fmt::format("why = {{ kind = \"{}\"", enum_name(reason.kind));
    for (const ReasonField& field : reason_fields(reason.kind)) {
        out += fmt::format(", {} = {}", field.key, toml_string(reason.*field.value));
    }
    out += " }\n";
}

ResolvedImage read_image(const LockTable& reader) {
    ResolvedImage image{reader.text("source"), reader.text("name"), reader.digest("digest"),
                        reader.digest("manifest"), 0};
    if (!image_place(image.source)) {
        throw reader.complain("source", "is not an image's");
    }
    if (!complete_image_name(image.name)) {
        throw reader.complain("name", "is not an image's name");
    }
    image.size = static_cast<std::uint64_t>(reader.number("size"));
    return image;
}

ResolvedPackage read_package(const LockTable& reader, std::int64_t format) {
    ResolvedPackage package;
    package.nevra = read_nevra(reader);
    package.repository = reader.text("repository");
    package.location = reader.text("location");
    if (package.location.empty() || package.location.starts_with('/')) {
        throw reader.complain("location", "is not a path inside the repository");
    }
    package.base = reader.text("base", true);
    package.checksum = reader.checksum();
    package.size = static_cast<std::uint64_t>(reader.number("size"));
    package.build_time = reader.number("build_time");
    package.module = reader.text("module", true);
    package.why = read_reason(reader, format);
    return package;
}

ResolvedParent read_parent(const LockTable& reader) {
    ResolvedParent parent{read_words(reader, "name"), reader.digest("commit"), "", {}, {}};
    if (reader.table().contains("image")) {
        parent.image_digest = "sha256:" + reader.digest("image");
    }
    return parent;
}

void append_parent(std::string& out, const ResolvedParent& parent) {
    out += fmt::format("\n[parent]\nname = {}\ncommit = \"{}\"\n", toml_string(parent.name),
                       parent.commit);
    if (!parent.image_digest.empty()) {
        out += fmt::format("image = \"{}\"\n", parent.image_digest.substr(7));
    }
}

template <typename Function>
void for_each_table(const std::string& file, const toml::table& root, const char* key,
                    const Function& function) {
    const toml::node* node = root.get(key);
    if (node == nullptr) {
        return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
        throw error(ErrorKind::usage, "{}:{}: '{}' is not an array of tables", file,
                    node->source().begin.line, key);
    }
    for (const toml::node& item : *array) {
        if (!item.is_table()) {
            throw error(ErrorKind::usage, "{}:{}: '{}' holds something that is not a table", file,
                        item.source().begin.line, key);
        }
        function(LockTable(file, *item.as_table()));
    }
}

void append_nevra(std::string& out, const Nevra& nevra) {
    out += fmt::format("name = {}\nepoch = {}\nversion = {}\nrelease = {}\narch = {}\n",
                       toml_string(nevra.name), nevra.epoch, toml_string(nevra.version),
                       toml_string(nevra.release), toml_string(nevra.arch));
}

void append_package(std::string& out, const char* header, const ResolvedPackage& package) {
    out += fmt::format("\n{}\n", header);
    append_nevra(out, package.nevra);
    out +=
        fmt::format("repository = {}\nlocation = {}\nchecksum = {}\nsize = {}\nbuild_time = {}\n",
                    toml_string(package.repository), toml_string(package.location),
                    toml_string(package.checksum.text()), package.size, package.build_time);
    if (!package.base.empty()) {
        out += fmt::format("base = {}\n", toml_string(package.base));
    }
    if (!package.module.empty()) {
        out += fmt::format("module = {}\n", toml_string(package.module));
    }
    append_reason(out, package.why);
}

void append_passed_over(std::string& out, const PassedOver& passed) {
    out += fmt::format("\n[[passed_over]]\nwhat = {}\nreason = {}\n", toml_string(passed.what),
                       toml_string(passed.reason));
    for (const Advisory& advisory : passed.advisories) {
        out += fmt::format("\n[[passed_over.advisory]]\nid = {}\nseverity = {}\ncves = [{}]\n",
                           toml_string(advisory.id), toml_string(advisory.severity),
                           fmt::join(mapped(advisory.cves, toml_string), ", "));
    }
}

PassedOver read_passed_over(const std::string& file, const LockTable& reader) {
    PassedOver passed{reader.text("what"), reader.text("reason"), {}};
    for_each_table(file, reader.table(), "advisory", [&](const LockTable& advisory) {
        passed.advisories.push_back(
            {advisory.text("id"), advisory.text("severity"), advisory.texts("cves")});
    });
    return passed;
}

void append_advisory(std::string& out, const FixedAdvisory& advisory) {
    out += fmt::format("\n[[advisory]]\nid = {}\nseverity = {}\npackages = [{}]\n",
                       toml_string(advisory.id), toml_string(advisory.severity),
                       fmt::join(mapped(advisory.packages, toml_string), ", "));
    for (const FixedAdvisory::Reference& reference : advisory.references) {
        out += fmt::format("\n[[advisory.reference]]\nurl = {}\ntitle = {}\n",
                           toml_string(reference.url), toml_string(reference.title));
    }
}

FixedAdvisory read_advisory(const std::string& file, const LockTable& reader) {
    FixedAdvisory advisory{
        reader.text("id"), reader.text("severity"), reader.texts("packages"), {}};
    for_each_table(file, reader.table(), "reference", [&](const LockTable& reference) {
        advisory.references.push_back({reference.text("url"), reference.text("title")});
    });
    return advisory;
}

}  // namespace

Resolution read_lockfile(const std::filesystem::path& path) {
    const std::string file = path.string();
    toml::table root;
    try {
        root = toml::parse(read_file(path, 64U << 20U), file);
    } catch (const toml::parse_error& problem) {
        throw error(ErrorKind::usage, "{}:{}: {}", file, problem.source().begin.line,
                    problem.description());
    } catch (const Error& problem) {
        throw Error(ErrorKind::usage, problem.message());
    }
    const LockTable head(file, root);
    const std::int64_t format = head.number("format");
    if (format > lock_format) {
        throw head.complain("format", "is of a newer edgegpu: this one reads 1 and 2")
            .hinted("use that edgegpu; a lockfile that this one makes anew has other versions");
    }
    if (format != 1 && format != lock_format) {
        throw head.complain("format", "is not supported: this edgegpu reads 1 and 2");
    }
    Resolution result;
    result.kernel_uname = head.text("kernel_uname");
    result.driver_version = head.text("driver_version", true);
    if (const std::string flavor = head.text("driver_flavor", true); !flavor.empty()) {
        result.driver_flavor = value_named<DriverFlavor>(flavor);
        if (!result.driver_flavor || result.driver_flavor == DriverFlavor::automatic) {
            throw head.complain("driver_flavor", "is neither \"open\" nor \"proprietary\"");
        }
    }
    result.kernel = read_nevra(head.inner("kernel"));
    if (root.contains("parent")) {
        result.parent = read_parent(head.inner("parent"));
    }
    for_each_table(file, root, "repository", [&](const LockTable& reader) {
        result.repositories.push_back(
            {reader.text("id"), reader.digest("repomd_sha256"), reader.number("revision_time")});
    });
    for_each_table(file, root, "module", [&](const LockTable& reader) {
        result.modules.push_back({reader.text("name"), reader.text("stream"),
                                  reader.text("version"), reader.text("context")});
    });
    for_each_table(file, root, "package", [&](const LockTable& reader) {
        result.packages.push_back(read_package(reader, format));
    });
    if (root.contains("dkms_source")) {
        result.dkms_source = read_package(head.inner("dkms_source"), format);
    }
    for_each_table(file, root, "build_package", [&](const LockTable& reader) {
        result.build_root.push_back(read_package(reader, format));
    });
    for_each_table(file, root, "policy_package", [&](const LockTable& reader) {
        result.policy_root.push_back(read_package(reader, format));
    });
    for_each_table(file, root, "image",
                   [&](const LockTable& reader) { result.images.push_back(read_image(reader)); });
    for_each_table(file, root, "passed_over", [&](const LockTable& reader) {
        result.passed_over.push_back(read_passed_over(file, reader));
    });
    for_each_table(file, root, "advisory", [&](const LockTable& reader) {
        result.advisories.push_back(read_advisory(file, reader));
    });
    return result;
}

void write_lockfile(const std::filesystem::path& path, const Resolution& resolution) {
    std::string out = "# The exact packages of an image, written by edgegpu build --lock.\n";
    out += fmt::format("format = {}\nkernel_uname = {}\n", lock_format,
                       toml_string(resolution.kernel_uname));
    if (!resolution.driver_version.empty()) {
        out += fmt::format("driver_version = {}\n", toml_string(resolution.driver_version));
    }
    if (resolution.driver_flavor) {
        out += fmt::format("driver_flavor = \"{}\"\n", *resolution.driver_flavor);
    }
    out += "\n[kernel]\n";
    append_nevra(out, resolution.kernel);
    if (resolution.parent) {
        append_parent(out, *resolution.parent);
    }
    for (const ResolvedRepository& repository : resolution.repositories) {
        out += fmt::format("\n[[repository]]\nid = {}\nrepomd_sha256 = {}\nrevision_time = {}\n",
                           toml_string(repository.id), toml_string(repository.repomd_sha256),
                           repository.revision_time);
    }
    for (const ResolvedModule& module : resolution.modules) {
        out += fmt::format("\n[[module]]\nname = {}\nstream = {}\nversion = {}\ncontext = {}\n",
                           toml_string(module.name), toml_string(module.stream),
                           toml_string(module.version), toml_string(module.context));
    }
    for (const PassedOver& passed : resolution.passed_over) {
        append_passed_over(out, passed);
    }
    for (const FixedAdvisory& advisory : resolution.advisories) {
        append_advisory(out, advisory);
    }
    for (const ResolvedPackage& package : resolution.packages) {
        append_package(out, "[[package]]", package);
    }
    if (resolution.dkms_source) {
        append_package(out, "[dkms_source]", *resolution.dkms_source);
    }
    for (const ResolvedPackage& package : resolution.build_root) {
        append_package(out, "[[build_package]]", package);
    }
    for (const ResolvedPackage& package : resolution.policy_root) {
        append_package(out, "[[policy_package]]", package);
    }
    for (const ResolvedImage& image : resolution.images) {
        out += fmt::format(
            "\n[[image]]\nsource = {}\nname = {}\ndigest = \"{}\"\nmanifest = \"{}\"\nsize = {}\n",
            toml_string(image.source), toml_string(image.name), image.digest, image.manifest,
            image.size);
    }
    const std::filesystem::path place = replaced_file(path);
    remove_leftovers_of(place);
    write_file(place, out, 0644, true);
}

}  // namespace edgegpu
