#include "blueprint/document/merge.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace edgegpu {

namespace {

/// The keys by which the tables of an array are told apart.
constexpr std::array<std::string_view, 6> identities{"id",     "name",       "path",
                                                     "source", "mountpoint", "bundle"};

std::string joined_name(const std::string& prefix, const std::string& key) {
    return prefix.empty() ? key : prefix + '.' + key;
}

/// Merges tables; the parser has limited their depth.
// NOLINTNEXTLINE(misc-no-recursion)
void merge_tables(TomlTable& base, TomlTable&& own, const std::string& prefix, Mistakes& mistakes) {
    for (auto& [key, member] : own) {
        const auto [place, is_new] = base.try_emplace(key, std::move(member));
        if (is_new) {
            continue;
        }
        TomlValue& before = place->second.value;
        TomlValue& after = member.value;
        const std::string name = joined_name(prefix, key);
        if (before.get<TomlTable>() != nullptr && after.get<TomlTable>() != nullptr) {
            before.place = after.place;
            merge_tables(*before.get<TomlTable>(), std::move(*after.get<TomlTable>()), name,
                         mistakes);
        } else if (before.get<TomlArray>() != nullptr && after.get<TomlArray>() != nullptr) {
            before.place = after.place;
            std::ranges::move(*after.get<TomlArray>(),
                              std::back_inserter(*before.get<TomlArray>()));
        } else if (const auto is_plain =
                       [](const TomlValue& value) {
                           return value.get<TomlTable>() == nullptr &&
                                  value.get<TomlArray>() == nullptr;
                       };
                   is_plain(before) && is_plain(after)) {
            place->second = std::move(member);
        } else {
            mistakes.add(
                error_at(after.place.location(), "\"{}\" is {} here, and {} at {}", name,
                         after.type_name(), before.type_name(), before.place.location().text())
                    .hinted(fmt::format("to replace what is inherited: without = [\"{}\"]", name)));
        }
    }
}

/// "a.\"b.c\".d" → a, b.c, d. Throws at the text's location if a quotation mark is not closed.
std::vector<std::string> parts_of(const LocatedString& path) {
    std::vector<std::string> parts;
    std::string_view rest = path.value;
    while (true) {
        const char first = rest.empty() ? '.' : rest.front();
        const bool quoted = first == '"' || first == '\'';
        const std::size_t end =
            quoted ? rest.find(first, 1) : std::min(rest.find('.'), rest.size());
        if (end == std::string_view::npos || end == 0) {
            throw error_at(path.location, "\"{}\" is not the name of something inherited",
                           path.value)
                .hinted(
                    "as in \"nvidia.toolkit\", \"packages.vim\" or 'systemd.units.\"a.service\"'");
        }
        parts.emplace_back(quoted ? rest.substr(1, end - 1) : rest.substr(0, end));
        rest.remove_prefix(end + (quoted ? 1 : 0));
        if (rest.empty()) {
            return parts;
        }
        if (rest.front() != '.') {
            throw error_at(path.location, "\"{}\" has no dot after a quoted part", path.value);
        }
        rest.remove_prefix(1);
    }
}

/// Whether a part of a path stands for an element of an array.
bool is_called(const TomlValue& element, const std::string& name) {
    if (const auto* text = element.get<std::string>()) {
        return *text == name;
    }
    const auto* table = element.get<TomlTable>();
    return table != nullptr && std::ranges::any_of(identities, [&](std::string_view key) {
               const TomlValue* value = find_value(*table, key);
               const auto* text = value == nullptr ? nullptr : value->get<std::string>();
               return text != nullptr && *text == name;
           });
}

/// The names that a part of a path could have.
std::vector<std::string> names_in(const TomlValue& value) {
    std::vector<std::string> names;
    if (const auto* table = value.get<TomlTable>()) {
        return ordered_keys(*table);
    }
    if (const auto* array = value.get<TomlArray>()) {
        for (const TomlValue& element : *array) {
            if (const auto* text = element.get<std::string>()) {
                names.push_back(*text);
            } else if (const auto* table = element.get<TomlTable>()) {
                for (const std::string_view key : identities) {
                    const TomlValue* name = find_value(*table, key);
                    if (name != nullptr && name->get<std::string>() != nullptr) {
                        names.push_back(*name->get<std::string>());
                    }
                }
            }
        }
    }
    return names;
}

/// Removes the values; false, with the names that there are where the path ends, if there are none.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the path, whose parts are those of a line
bool remove_parts(TomlValue& value, std::span<const std::string> parts,
                  std::vector<std::string>& names) {
    const std::string& part = parts.front();
    const std::span<const std::string> rest = parts.subspan(1);
    bool removed = false;
    if (auto* table = value.get<TomlTable>()) {
        const auto member = table->find(part);
        if (member != table->end()) {
            if (!rest.empty()) {
                return remove_parts(member->second.value, rest, names);
            }
            table->erase(member);
            return true;
        }
    } else if (auto* array = value.get<TomlArray>()) {
        if (rest.empty()) {
            removed = std::erase_if(*array, [&](const TomlValue& element) {
                          return is_called(element, part);
                      }) != 0;
        }
        for (TomlValue& element : *array) {
            if (!rest.empty() && is_called(element, part)) {
                removed = remove_parts(element, rest, names) || removed;
            }
        }
    }
    if (!removed && names.empty()) {
        names = names_in(value);
    }
    return removed;
}

}  // namespace

void merge_over(TomlTable& base, TomlTable own, Mistakes& mistakes) {
    merge_tables(base, std::move(own), "", mistakes);
}

void remove_inherited(TomlValue& base, const LocatedString& path, Mistakes& mistakes) {
    mistakes.attempt([&] {
        const std::vector<std::string> parts = parts_of(path);
        std::vector<std::string> names;
        if (!remove_parts(base, parts, names)) {
            Error nothing = error_at(path.location, "nothing is inherited as \"{}\"", path.value);
            for (const std::string& part : parts) {
                const std::string hint = near_names_hint(part, names);
                if (!hint.empty() && nothing.hint().empty()) {
                    nothing.hinted(hint);
                }
            }
            throw nothing;
        }
    });
}

}  // namespace edgegpu
