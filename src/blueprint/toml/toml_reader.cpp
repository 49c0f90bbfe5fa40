#include "blueprint/toml/toml_reader.hpp"

#include <algorithm>

#include "blueprint/toml/toml_depth.hpp"
#include "blueprint/toml/toml_state.hpp"
#include "blueprint/toml/toml_syntax.hpp"
#include "blueprint/toml/validate.hpp"

namespace edgegpu {

TableReader TableReader::parse(const std::string& file, std::string_view text, Mistakes& mistakes) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        throw error_at({file, 1, 1}, "this is JSON; a blueprint must be TOML")
            .hinted("image builder exports blueprints as TOML: composer-cli blueprints save NAME");
    }
    require_shallow_toml(file, text);
    try {
        auto document = std::make_shared<const toml::table>(toml::parse(text, file));
        const toml::table* root = document.get();
        const toml::source_position begin = root->source().begin;
        return TableReader(std::make_shared<State>(State{
            std::move(document), root, file, {}, {}, &mistakes, {file, begin.line, begin.column}}));
    } catch (const toml::parse_error& failure) {
        const toml::source_position begin = failure.source().begin;
        throw toml_syntax_error(file, text, begin.line, begin.column, failure.description());
    }
}

void TableReader::note(const Error& failure) const {
    state_->mistakes->add(failure);
}

Mistakes& TableReader::mistakes() const {
    return *state_->mistakes;
}

SourceLocation TableReader::location() const {
    return state_->place;
}

SourceLocation TableReader::location(std::string_view key) const {
    const toml::node* node = state_->table->get(key);
    if (node == nullptr) {
        return location();
    }
    // Tables that only exist as the middle of a dotted name have no place of their own.
    return node->source().begin.line == 0 ? state_->key_location(key) : state_->at(node->source());
}

std::string TableReader::full_name(std::string_view key) const {
    return state_->name(key);
}

bool TableReader::has(std::string_view key) const {
    return state_->find(key) != nullptr;
}

bool TableReader::is_boolean(std::string_view key) const {
    const toml::node* node = state_->find(key);
    return node != nullptr && node->is_boolean();
}

std::vector<std::string> TableReader::keys() const {
    std::vector<std::pair<toml::source_position, std::string>> found;
    for (const auto& [key, node] : *state_->table) {
        found.emplace_back(key.source().begin, key.str());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first == b.first ? a.second < b.second : a.first < b.first;
    });
    std::vector<std::string> names;
    names.reserve(found.size());
    for (auto& [position, name] : found) {
        names.push_back(std::move(name));
    }
    return names;
}

void TableReader::refuse_unsupported(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
        const toml::node* node = state_->find(key);
        const bool off = node != nullptr && node->is_boolean() && !node->as_boolean()->get();
        if (node != nullptr && !off) {
            note(error_at(state_->key_location(key), "not supported yet: {}", full_name(key)));
        }
    }
}

void TableReader::refuse_foreign(std::string_view key, std::string_view instead) const {
    if (has(key)) {
        note(error_at(state_->key_location(key), "not for an edge commit: {}", full_name(key))
                 .hinted(std::string(instead)));
    }
}

void TableReader::finish() const {
    const std::vector<std::string> known(state_->known.begin(), state_->known.end());
    std::size_t unknown_keys = 0;
    for (const std::string& key : keys()) {
        if (state_->known.count(key) != 0) {
            continue;
        }
        Error unknown = error_at(state_->key_location(key), "unknown key \"{}\"", full_name(key));
        // A malicious file may have hundreds of thousands: no hints for those that are not shown.
        if (++unknown_keys <= Mistakes::most) {
            const std::vector<std::string> near = nearest_names(key, known);
            unknown.hinted(near.empty()
                               ? fmt::format("known keys: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean \"{}\"?", full_name(near.front())));
        }
        note(unknown);
    }
}

}  // namespace edgegpu
