#include "blueprint/fields/digest.hpp"

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/fields/blueprint.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

Error not_taken(const fs::path& path) {
    return error("{}: the build took no copy of it", path.string());
}

/// Feeds values into a digest unambiguously: no other sequence of values gives the same bytes.
/// There is no overload for paths: the location of a file on the build machine is not an input.
class FieldDigest {
public:
    explicit FieldDigest(Sha256& digest) : digest_(digest) {}

    void add(std::string_view text) { digest_.update_field(text); }
    void add(bool value) { add(std::string_view(value ? "true" : "false")); }
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) void add(Number number) {
        add(std::string_view(std::to_string(number)));
    }
    template <NamedEnum Enum>
    void add(Enum value) {
        add(enum_name(value));
    }
    template <typename Value>
    void add(const std::optional<Value>& value) {
        add(value.has_value());
        if (value) {
            add(*value);
        }
    }
    template <typename Value>
    void add(const std::vector<Value>& values) {
        add(values.size());
        for (const Value& value : values) {
            add(value);
        }
    }
    template <typename Value>
    void add(const std::map<std::string, Value>& values) {
        add(values.size());
        for (const auto& [key, value] : values) {
            add(std::string_view(key));
            add(value);
        }
    }
    template <Described Struct>
    void add(const Struct& value) {
        each_field(value, [&](const auto& row, const auto& owner) { add_field(row, owner); });
    }

private:
    template <typename Row, typename Owner>
    void add_field(const Row& row, const Owner& owner) {
        if constexpr (Row::counts == Counts::value) {
            add(row.name);
            add(owner.*row.member);
        } else if constexpr (Row::counts == Counts::set) {
            add(row.name);
            add_set(owner.*row.member);
        } else if constexpr (Row::counts == Counts::module) {
            add(row.name);
            add_modules(owner.*row.member);
        } else if constexpr (Row::counts == Counts::content) {
            add(row.name);
            if constexpr (requires { row.stored; }) {
                add_copy(owner.*row.member, owner.*row.stored);
            } else {
                add_file(owner.*row.member);
            }
        }
    }

    template <typename Value>
    void add_set(const std::vector<Value>& values) {
        std::vector<std::string> digests;
        for (const Value& value : values) {
            Sha256 digest;
            FieldDigest(digest).add(value);
            digests.push_back(digest.hex());
        }
        std::ranges::sort(digests);
        add(digests);
    }

    void add_modules(const std::vector<fs::path>& modules) {
        add(modules.size());
        for (const fs::path& module : modules) {
            add_modules(module);
        }
    }
    /// The file name is the module's name and therefore an input.
    void add_modules(const fs::path& module) {
        const std::vector<fs::path> files =
            module.empty() ? std::vector<fs::path>{} : files_of_module(module);
        add(files.size());
        for (const fs::path& file : files) {
            add(std::string_view(file.filename().string()));
            add_file(file);
        }
    }

    /// The content of a copy that belongs to this build.
    void add_file(const fs::path& file) {
        add(!file.empty());
        if (!file.empty()) {
            add(std::string_view(sha256_file(file)));
        }
    }

    void add_copy(const fs::path& path, const std::optional<StoredFile>& stored) {
        if (!path.empty() && !stored) {
            throw not_taken(path);
        }
        add(stored.has_value());
        if (stored) {
            add(std::string_view(stored->digest));
        }
    }
    /// The content of an archive, or of a directory: relative names, types, executable bits,
    /// contents.
    void add_copy(const fs::path& path, const std::shared_ptr<const StoredSource>& stored) {
        if (!stored) {
            throw not_taken(path);
        }
        add(std::string_view(stored->archive ? "archive" : "directory"));
        if (stored->archive) {
            add(std::string_view(stored->archive->digest));
            return;
        }
        add(stored->members.size());
        for (const StoredMember& member : stored->members) {
            add_member(member);
        }
    }

    void add_member(const StoredMember& member) {
        add(std::string_view(member.name));
        switch (member.type) {
            case MemberType::symlink:
                add(std::string_view("link"));
                add(std::string_view(member.target));
                return;
            case MemberType::directory:
                add(std::string_view("directory"));
                return;
            case MemberType::file:
                add(std::string_view(member.executable ? "executable" : "file"));
                add(std::string_view(member.content.digest));
                return;
        }
    }

    Sha256& digest_;
};

}  // namespace

void add_blueprint(Sha256& digest, const Blueprint& blueprint) {
    if (blueprint.selinux.gpu_containers && blueprint.selinux.map_module.empty()) {
        throw not_taken("the policy module of gpu_containers");
    }
    FieldDigest(digest).add(blueprint);
}

}  // namespace edgegpu
