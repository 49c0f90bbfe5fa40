#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/fields/blueprint.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

/// Fills every field of a blueprint, driven by the description of its fields: what may be empty is
/// not, lists have two elements that differ, and files that are named lie below `directory`.
class Filler {
public:
    explicit Filler(std::filesystem::path directory) : directory_(std::move(directory)) {}

    void fill(std::string& text) { text = "text " + std::to_string(++number_); }
    void fill(std::integral auto& number) { number = true; }
    template <NamedEnum Enum>
    void fill(Enum& value) {
        value = static_cast<Enum>(0);
    }
    void fill(std::filesystem::path& path) {
        path = directory_ / ("module" + std::to_string(++number_) + ".te");
        for (const char* extension : {".te", ".fc", ".if"}) {
            std::filesystem::path file = path;
            write_file(file.replace_extension(extension), extension);
        }
    }
    void fill(SourceLocation& location) { location = {"b.toml", ++number_, 1}; }
    void fill(StoredFile& file) { file = {"/cache/content", "digest", 6}; }
    void fill(std::shared_ptr<const StoredSource>& source) {
        StoredSource directory;
        directory.members = {{"a", MemberType::directory, false, false, "", {}},
                             {"a/b", MemberType::file, false, false, "", {"/cache", "digest", 6}},
                             {"a/c", MemberType::symlink, false, false, "b", {}}};
        source = std::make_shared<const StoredSource>(std::move(directory));
    }
    template <typename Value>
    void fill(std::optional<Value>& value) {
        fill(value.emplace());
    }
    template <typename Value>
    void fill(std::vector<Value>& values) {
        values.resize(2);
        for (Value& value : values) {
            fill(value);
        }
    }
    template <NamedEnum Enum>
    void fill(std::vector<Enum>& values) {
        values = {static_cast<Enum>(0), static_cast<Enum>(1)};
    }
    template <typename Value>
    void fill(std::map<std::string, Value>& values) {
        fill(values["a"]);
        fill(values["b"]);
    }
    template <Described Struct>
    void fill(Struct& value) {
        each_field(value, [&](const auto& row, auto& owner) {
            fill(owner.*row.member);
            if constexpr (requires { row.stored; }) {
                fill(owner.*row.stored);
            }
        });
    }

private:
    std::filesystem::path directory_;
    unsigned number_ = 0;
};

/// Makes every change of a filled blueprint that there is to make, one at a time, driven by the
/// description of its fields.
class Changes {
public:
    /// `directory`: for files with other content.
    Changes(Blueprint base, std::filesystem::path directory)
        : base_(std::move(base)), directory_(std::move(directory)) {}

    /// Calls `visit(name, counts, blueprint)` with each changed blueprint. `name` says what was
    /// changed ("users[0].name"), `counts` whether the commit may be another one.
    template <typename Visit>
    void each(Visit visit) {
        for (unsigned wanted = 1;; ++wanted) {
            Blueprint blueprint = base_;
            wanted_ = wanted;
            seen_ = 0;
            name_.clear();
            walk(blueprint, true, "");
            if (seen_ < wanted_) {
                return;
            }
            visit(name_, counts_, std::as_const(blueprint));
        }
    }

private:
    /// Whether the next change is the one to make.
    bool now(bool counts, const std::string& name) {
        if (++seen_ != wanted_) {
            return false;
        }
        name_ = name;
        counts_ = counts;
        return true;
    }

    void walk(std::string& text, bool counts, const std::string& name) {
        if (now(counts, name)) {
            text += '!';
        }
        if (now(counts, name + " emptied")) {
            text.clear();
        }
    }
    void walk(bool& value, bool counts, const std::string& name) {
        if (now(counts, name)) {
            value = !value;
        }
    }
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) void walk(Number& number, bool counts,
                                                    const std::string& name) {
        if (now(counts, name)) {
            ++number;
        }
    }
    template <NamedEnum Enum>
    void walk(Enum& value, bool counts, const std::string& name) {
        each_value<Enum>([&, filled = value](Enum other) {
            if (other != filled && now(counts, name + " " + std::string(enum_name(other)))) {
                value = other;
            }
        });
    }
    void walk(SourceLocation& location, bool /*counts*/, const std::string& name) {
        if (now(false, name)) {
            ++location.line;
        }
    }
    template <typename Value>
    void walk(std::optional<Value>& value, bool counts, const std::string& name) {
        if (now(counts, name + " unset")) {
            value.reset();
            return;
        }
        walk(*value, counts, name);
    }
    template <typename Value>
    void walk(std::vector<Value>& values, bool counts, const std::string& name,
              bool ordered = true) {
        if (now(counts, name + " shorter")) {
            values.pop_back();
        } else if (now(counts, name + " longer")) {
            values.push_back(values.front());
        } else if (now(counts && ordered, name + " in another order")) {
            std::swap(values[0], values[1]);
        } else {
            walk(values[0], counts, name + "[0]");
            walk(values[1], counts, name + "[1]");
        }
    }
    template <typename Value>
    void walk(std::map<std::string, Value>& values, bool counts, const std::string& name) {
        if (now(counts, name + " shorter")) {
            values.erase("b");
        } else if (now(counts, name + " under another name")) {
            values["c"] = values["b"];
            values.erase("b");
        } else {
            walk(values["a"], counts, name + ".a");
        }
    }
    /// The builder's own matter.
    void walk(std::filesystem::path& path, bool counts, const std::string& name) {
        if (now(counts, name)) {
            path = "/elsewhere";
        }
    }
    template <Described Struct>
    void walk(Struct& value, bool counts, const std::string& name) {
        each_field(value, [&]<typename Row>(const Row& row, auto& owner) {
            const std::string path = (name.empty() ? "" : name + ".") + std::string(row.name);
            auto& field = owner.*row.member;
            if constexpr (requires { row.stored; }) {
                walk(field, false, path);
                walk_copy(owner.*row.stored, counts, path);
            } else if constexpr (Row::counts == Counts::content) {
                walk_file(field, counts, path);
            } else if constexpr (Row::counts == Counts::module) {
                walk_modules(field, counts, path);
            } else if constexpr (Row::counts == Counts::set) {
                walk(field, counts, path, false);
            } else {
                walk(field, counts && Row::counts == Counts::value, path);
            }
        });
    }

    void walk_copy(std::optional<StoredFile>& stored, bool counts, const std::string& name) {
        walk_stored(*stored, counts, name);
    }
    void walk_stored(StoredFile& stored, bool counts, const std::string& name) {
        if (now(counts, name + ": content")) {
            stored.digest += '!';
        } else if (now(false, name + ": place of the copy")) {
            stored.path = "/elsewhere";
        }
    }
    void walk_copy(std::shared_ptr<const StoredSource>& source, bool counts,
                   const std::string& name) {
        StoredSource other = *source;
        StoredMember& file = other.members.at(1);
        StoredMember& link = other.members.at(2);
        if (now(counts, name + ": a name")) {
            file.name += '!';
        } else if (now(counts, name + ": an executable")) {
            file.executable = true;
        } else if (now(counts, name + ": a link's target")) {
            link.target += '!';
        } else if (now(counts, name + ": a link that was a file")) {
            file.type = MemberType::symlink;
        } else if (now(counts, name + ": a directory that was a file")) {
            file.type = MemberType::directory;
        } else if (now(counts, name + ": one object less")) {
            other.members.pop_back();
        } else if (now(counts, name + ": an archive")) {
            other = {StoredFile{"/cache", "digest", 6}, {}};
        } else {
            walk_stored(file.content, counts, name + ": a file");
        }
        source = std::make_shared<const StoredSource>(std::move(other));
    }

    /// A copy of the file, and of those beside it, in another directory.
    std::filesystem::path elsewhere(const std::filesystem::path& file) {
        const std::filesystem::path directory = directory_ / std::to_string(seen_);
        make_directories(directory);
        for (const char* extension : {".te", ".fc", ".if"}) {
            std::filesystem::path one = file;
            one.replace_extension(extension);
            std::filesystem::copy_file(one, directory / one.filename());
        }
        return directory / file.filename();
    }
    void walk_file(std::filesystem::path& file, bool counts, const std::string& name) {
        if (now(false, name + ": another place")) {
            file = elsewhere(file);
        }
        if (now(counts, name + ": content")) {
            file = elsewhere(file);
            write_file(file, "other");
        }
        if (now(counts, name + ": none")) {
            file.clear();
        }
    }
    void walk_modules(std::vector<std::filesystem::path>& modules, bool counts,
                      const std::string& name) {
        walk_modules(modules[0], counts, name + "[0]");
        if (now(counts, name + " shorter")) {
            modules.pop_back();
        }
    }
    void walk_modules(std::filesystem::path& module, bool counts, const std::string& name) {
        if (now(false, name + ": another place")) {
            module = elsewhere(module);
        }
        for (const char* extension : {".te", ".fc", ".if"}) {
            if (now(counts, name + ": content of " + extension)) {
                module = elsewhere(module);
                std::filesystem::path file = module;
                write_file(file.replace_extension(extension), "other");
            }
        }
        for (const char* extension : {".fc", ".if"}) {
            if (now(counts, name + ": no " + extension)) {
                module = elsewhere(module);
                std::filesystem::path file = module;
                std::filesystem::remove(file.replace_extension(extension));
            }
        }
        if (now(counts, name + ": another name")) {
            module = elsewhere(module);
            const std::filesystem::path old = module;
            for (const char* extension : {".te", ".fc", ".if"}) {
                std::filesystem::path file = old;
                file.replace_extension(extension);
                module = old.parent_path() / ("other" + std::string(extension));
                std::filesystem::rename(file, module);
            }
            module.replace_extension(".te");
        }
    }

    Blueprint base_;
    std::filesystem::path directory_;
    unsigned wanted_ = 0;
    unsigned seen_ = 0;
    std::string name_;
    bool counts_ = false;
};

}  // namespace edgegpu::test
