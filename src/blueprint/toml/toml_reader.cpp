#include "blueprint/toml/toml_reader.hpp"

#include "blueprint/toml/toml_state.hpp"

namespace edgegpu {

TableReader TableReader::parse(const std::string& file, std::string_view text, Mistakes& mistakes) {
    return of(std::make_shared<const TomlValue>(parse_toml(file, text)), mistakes);
}

TableReader TableReader::of(std::shared_ptr<const TomlValue> document, Mistakes& mistakes) {
    const TomlValue& root = *document;
    return TableReader(std::make_shared<State>(
        State{std::move(document), root.get<TomlTable>(), root.place, {}, {}, &mistakes}));
}

void TableReader::note(const Error& failure) const {
    state_->mistakes->add(failure);
}

Mistakes& TableReader::mistakes() const {
    return *state_->mistakes;
}

SourceLocation TableReader::location() const {
    return state_->place.location();
}

SourceLocation TableReader::location(std::string_view key) const {
    const TomlValue* value = find_value(*state_->table, key);
    return value == nullptr ? location() : value->place.location();
}

std::string TableReader::full_name(std::string_view key) const {
    return state_->name(key);
}

bool TableReader::has(std::string_view key) const {
    return state_->find(key) != nullptr;
}

bool TableReader::is_boolean(std::string_view key) const {
    const TomlValue* value = state_->find(key);
    return value != nullptr && value->get<bool>() != nullptr;
}

std::vector<std::string> TableReader::keys() const {
    return ordered_keys(*state_->table);
}

void TableReader::refuse_unsupported(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
        const TomlValue* value = state_->find(key);
        const bool* boolean = value == nullptr ? nullptr : value->get<bool>();
        if (value != nullptr && (boolean == nullptr || *boolean)) {
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

void TableReader::finish(std::initializer_list<std::string_view> read_later) const {
    for (const std::string_view key : read_later) {
        static_cast<void>(has(key));
    }
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
