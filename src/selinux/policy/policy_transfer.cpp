#include "selinux/policy/policy_transfer.hpp"

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/error.hpp"

namespace edgegpu::selinux {

namespace {

template <typename Value>
concept Plain = std::is_trivially_copyable_v<Value>;

/// Appends values to bytes.
class Packer {
public:
    template <Plain Value>
    void value(const Value& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    std::size_t count(std::size_t number) {
        value(number);
        return number;
    }
    template <Plain Value>
    void values(const std::vector<Value>& values) {
        count(values.size());
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
    }
    void text(const std::string& text) {
        count(text.size());
        bytes.append(text);
    }

    std::string bytes;
};

/// Takes the same values, in the same order, from bytes. Nothing is allocated for more than there
/// is.
class Unpacker {
public:
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

    template <Plain Value>
    void value(Value& value) {
        std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    }
    /// Every counted item has at least one byte.
    std::size_t count(std::size_t /*unknown*/) {
        std::size_t number = 0;
        value(number);
        if (number > rest_.size()) {
            throw truncated();
        }
        return number;
    }
    template <Plain Value>
    void values(std::vector<Value>& values) {
        const std::string_view taken = take(count(0) * sizeof(Value));
        values.resize(taken.size() / sizeof(Value));
        if (!values.empty()) {
            std::memcpy(values.data(), taken.data(), taken.size());
        }
    }
    void text(std::string& text) { text = take(count(0)); }

private:
    static Error truncated() { return Error("a policy was not passed on completely"); }
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) {
            throw truncated();
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
};

// Each `transfer` packs or unpacks, so that both do the same.

template <typename Archive, typename List, typename Each>
void transfer_list(Archive& archive, List& list, const Each& each) {
    const std::size_t count = archive.count(list.size());
    if constexpr (!std::is_const_v<List>) {
        list.resize(count);
    }
    for (auto& item : list) {
        each(item);
    }
}

template <typename Archive, typename Bits>
void transfer_bits(Archive& archive, Bits& bits) {
    std::vector<char> plain;
    if constexpr (std::is_const_v<Bits>) {
        plain.assign(bits.begin(), bits.end());
        archive.values(std::as_const(plain));
    } else {
        archive.values(plain);
        bits.assign(plain.begin(), plain.end());
    }
}

template <typename Archive, typename Names>
void transfer_names(Archive& archive, Names& names) {
    if constexpr (std::is_const_v<Names>) {
        archive.count(names.size());
        for (const auto& [name, index] : names) {
            archive.text(name);
            archive.value(index);
        }
    } else {
        for (std::size_t left = archive.count(0); left > 0; --left) {
            std::string name;
            std::uint32_t index = 0;
            archive.text(name);
            archive.value(index);
            names.emplace_hint(names.end(), std::move(name), index);
        }
    }
}

/// The source, target, class and branch of a rule, which is neither plain nor in `allow`.
template <typename Archive, typename Rule>
void transfer_rule(Archive& archive, Rule& rule) {
    archive.value(rule.source);
    archive.value(rule.target);
    archive.value(rule.tclass);
    archive.value(rule.branch);
}

template <typename Archive, typename Policy>
void transfer(Archive& archive, Policy& policy) {
    transfer_list(archive, policy.types, [&](auto& type) {
        archive.text(type.name);
        archive.value(type.attribute);
        archive.value(type.permissive);
        transfer_bits(archive, type.members);
        archive.values(type.attributes);
    });
    transfer_names(archive, policy.type_names);
    transfer_list(archive, policy.classes, [&](auto& tclass) {
        archive.text(tclass.name);
        for (auto& permission : tclass.permissions) {
            archive.text(permission);
        }
    });
    transfer_list(archive, policy.booleans, [&](auto& boolean) {
        archive.text(boolean.first);
        archive.value(boolean.second);
    });
    transfer_list(archive, policy.conditions,
                  [&](auto& condition) { archive.values(condition.words); });
    archive.values(policy.allow);
    transfer_list(archive, policy.transitions, [&](auto& rule) {
        transfer_rule(archive, rule);
        archive.value(rule.type);
        archive.text(rule.name);
    });
    transfer_list(archive, policy.ioctls, [&](auto& rule) {
        transfer_rule(archive, rule);
        archive.text(rule.numbers);
    });
}

}  // namespace

std::string pack_policy(const PolicyData& policy) {
    Packer packer;
    packer.bytes.reserve(policy.allow.size() * sizeof(AvRule) * 2);
    transfer(packer, policy);
    return std::move(packer.bytes);
}

PolicyData unpack_policy(std::string_view bytes) {
    PolicyData policy;
    Unpacker unpacker(bytes);
    transfer(unpacker, policy);
    return policy;
}

}  // namespace edgegpu::selinux
