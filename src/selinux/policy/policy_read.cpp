#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sepol/debug.h>
#include <sepol/handle.h>
#include <sepol/policydb.h>

#include "execution/child_call.hpp"
#include "selinux/policy/policy_data.hpp"
#include "selinux/policy/policy_transfer.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

// These headers are C: until libsepol 3.5 they have a member `bool`, since then `boolean`.
#define bool boolean
#include <sepol/policydb/avtab.h>
#include <sepol/policydb/conditional.h>
#include <sepol/policydb/ebitmap.h>
#include <sepol/policydb/hashtab.h>
#include <sepol/policydb/policydb.h>
#undef bool

namespace edgegpu::selinux {

namespace {

using OwnedPolicy = Handle<sepol_policydb_t, sepol_policydb_free>;

/// Reads a policy; libsepol may write to `content`.
OwnedPolicy open_policy(std::string& content, const std::string& name) {
    const Handle<sepol_handle_t, sepol_handle_destroy> handle(sepol_handle_create());
    sepol_policydb_t* raw = nullptr;
    if (!handle || sepol_policydb_create(&raw) < 0) {
        throw errno_error("sepol_policydb_create", ENOMEM);
    }
    OwnedPolicy policy(raw);
    sepol_msg_set_callback(handle.get(), nullptr, nullptr);
    // Functions without a handle would write to stderr.
    static const bool silenced = (sepol_debug(0), true);
    static_cast<void>(silenced);
    sepol_policy_file_t* raw_file = nullptr;
    if (sepol_policy_file_create(&raw_file) < 0) {
        throw errno_error("sepol_policy_file_create", ENOMEM);
    }
    const Handle<sepol_policy_file_t, sepol_policy_file_free> file(raw_file);
    sepol_policy_file_set_mem(file.get(), content.data(), content.size());
    sepol_policy_file_set_handle(file.get(), handle.get());
    if (sepol_policydb_read(policy.get(), file.get()) < 0 || policy->p.policy_type != POLICY_KERN) {
        throw error("{}: not a binary policy that can be read", name)
            .hinted("it may be newer than the builder's libsepol");
    }
    return policy;
}

/// Calls `visit(name, datum)` for each entry of a table of libsepol.
template <typename Datum, typename Visit>
void for_each(const hashtab_val_t* table, const Visit& visit) {
    for (unsigned slot = 0; table != nullptr && slot < table->size; ++slot) {
        for (const hashtab_node_t* node = table->htable[slot]; node != nullptr; node = node->next) {
            visit(node->key, *static_cast<const Datum*>(node->datum));
        }
    }
}

template <typename Visit>
void for_each_bit(const ebitmap_t& bits, const Visit& visit) {
    for (const ebitmap_node_t* node = bits.node; node != nullptr; node = node->next) {
        for (unsigned bit = 0; bit < MAPSIZE; ++bit) {
            if ((node->map >> bit & 1U) != 0) {
                visit(node->startbit + bit);
            }
        }
    }
}

template <typename Visit>
void for_each_rule(const avtab_t& table, const Visit& visit) {
    for (std::uint32_t slot = 0; slot < table.nslot; ++slot) {
        for (const avtab_node* node = table.htable[slot]; node != nullptr; node = node->next) {
            visit(*node);
        }
    }
}

void read_types(const policydb_t& from, PolicyData& policy) {
    const std::uint32_t count = from.symtab[SYM_TYPES].nprim;
    policy.types.resize(count);
    for_each<type_datum_t>(from.symtab[SYM_TYPES].table,
                           [&](const char* name, const type_datum_t& datum) {
                               const std::uint32_t index = datum.s.value - 1;
                               policy.type_names[name] = index;
                               PolicyType& type = policy.types.at(index);
                               type.attribute = datum.flavor == TYPE_ATTRIB;
                               if (datum.primary != 0 || type.name.empty()) {
                                   type.name = name;
                               }
                           });
    for (std::uint32_t index = 0; index < count; ++index) {
        PolicyType& type = policy.types[index];
        // The first type is 1 in this map.
        type.permissive = ebitmap_get_bit(&from.permissive_map, index + 1) != 0;
        if (type.attribute) {
            type.members.resize(count);
            for_each_bit(from.attr_type_map[index], [&](std::uint32_t member) {
                if (member < count && !policy.types[member].attribute) {
                    type.members[member] = true;
                    policy.types[member].attributes.push_back(index);
                }
            });
        }
    }
}

void read_classes(const policydb_t& from, PolicyData& policy) {
    policy.classes.resize(from.symtab[SYM_CLASSES].nprim);
    for_each<class_datum_t>(
        from.symtab[SYM_CLASSES].table, [&](const char* name, const class_datum_t& datum) {
            PolicyClass& tclass = policy.classes.at(datum.s.value - 1);
            tclass.name = name;
            const auto add = [&](const char* permission, const perm_datum_t& permission_datum) {
                tclass.permissions.at(permission_datum.s.value - 1) = permission;
            };
            for_each<perm_datum_t>(datum.permissions.table, add);
            if (datum.comdatum != nullptr) {
                for_each<perm_datum_t>(datum.comdatum->permissions.table, add);
            }
        });
}

void read_booleans(const policydb_t& from, PolicyData& policy) {
    policy.booleans.resize(from.symtab[SYM_BOOLS].nprim);
    for_each<cond_bool_datum_t>(
        from.symtab[SYM_BOOLS].table, [&](const char* name, const cond_bool_datum_t& datum) {
            policy.booleans.at(datum.s.value - 1) = {name, datum.state != 0};
        });
}

/// The numbers in a table of 256 bits, which are those of one driver, or whole drivers with 256
/// numbers each.
std::string ioctl_numbers(const avtab_extended_perms_t& table) {
    const bool drivers = table.specified == AVTAB_XPERMS_IOCTLDRIVER;
    const auto has = [&](unsigned bit) { return (table.perms[bit / 32] >> (bit % 32) & 1U) != 0; };
    std::string text = "ioctl {";
    for (unsigned first = 0; first < 256; ++first) {
        if (!has(first)) {
            continue;
        }
        unsigned last = first;
        while (last < 255 && has(last + 1)) {
            ++last;
        }
        const unsigned low = drivers ? first << 8U : table.driver << 8U | first;
        const unsigned high = drivers ? last << 8U | 0xffU : table.driver << 8U | last;
        text +=
            low == high ? fmt::format(" {:#06x}", low) : fmt::format(" {:#06x}-{:#06x}", low, high);
        first = last;
    }
    return text + " }";
}

void read_rule(const avtab_node& node, const Branch& branch, PolicyData& policy) {
    const avtab_key_t& key = node.key;
    const std::uint32_t source = key.source_type - 1U;
    const std::uint32_t target = key.target_type - 1U;
    const std::uint32_t tclass = key.target_class - 1U;
    if (source >= policy.types.size() || target >= policy.types.size() ||
        tclass >= policy.classes.size()) {
        throw error("a rule of the policy refers to a type or class that is not defined");
    }
    if ((key.specified & AVTAB_ALLOWED) != 0) {
        policy.allow.push_back({source, target, tclass, node.datum.data, branch});
    } else if ((key.specified & AVTAB_TRANSITION) != 0) {
        policy.transitions.push_back(
            {source, target, tclass, node.datum.data - 1, std::string(), branch});
    } else if ((key.specified & AVTAB_XPERMS_ALLOWED) != 0 && node.datum.xperms != nullptr) {
        policy.ioctls.push_back(
            {source, target, tclass, ioctl_numbers(*node.datum.xperms), branch});
    }
}

Condition read_condition(const cond_node_t& node, const PolicyData& policy) {
    Condition condition;
    int operands = 0;
    for (const cond_expr_t* word = node.expr; word != nullptr; word = word->next) {
        const bool is_boolean = word->expr_type == COND_BOOL;
        operands += is_boolean ? 1 : word->expr_type == COND_NOT ? 0 : -1;
        if (word->expr_type < COND_BOOL || word->expr_type > COND_LAST || operands < 1 ||
            (is_boolean && word->boolean - 1 >= policy.booleans.size())) {
            throw error("a condition of the policy is malformed");
        }
        condition.words.push_back(
            {static_cast<ConditionWord>(word->expr_type), is_boolean ? word->boolean - 1 : 0});
    }
    if (operands != 1) {
        throw error("a condition of the policy is malformed");
    }
    return condition;
}

void read_rules(const policydb_t& from, PolicyData& policy) {
    policy.allow.reserve(from.te_avtab.nel + from.te_cond_avtab.nel);
    for_each_rule(from.te_avtab, [&](const avtab_node& node) { read_rule(node, {}, policy); });
    for (const cond_node_t* node = from.cond_list; node != nullptr; node = node->next) {
        const auto index = static_cast<std::int32_t>(policy.conditions.size());
        policy.conditions.push_back(read_condition(*node, policy));
        for (const bool when : {true, false}) {
            for (const cond_av_list_t* rule = when ? node->true_list : node->false_list;
                 rule != nullptr; rule = rule->next) {
                read_rule(*rule->node, {index, when}, policy);
            }
        }
    }
    std::ranges::sort(policy.allow, [](const AvRule& a, const AvRule& b) {
        return std::tie(a.tclass, a.source, a.target, a.branch.condition, a.branch.when) <
               std::tie(b.tclass, b.source, b.target, b.branch.condition, b.branch.when);
    });
}

void read_named_transitions(const policydb_t& from, PolicyData& policy) {
    if (from.filename_trans == nullptr) {
        return;
    }
    const hashtab_val_t& table = *from.filename_trans;
    for (unsigned slot = 0; slot < table.size; ++slot) {
        for (const hashtab_node_t* node = table.htable[slot]; node != nullptr; node = node->next) {
            // The key is a struct, whatever its declared type.
            const auto& key = *reinterpret_cast<const filename_trans_key_t*>(node->key);
            for (auto datum = static_cast<const filename_trans_datum_t*>(node->datum);
                 datum != nullptr; datum = datum->next) {
                for_each_bit(datum->stypes, [&](std::uint32_t source) {
                    policy.transitions.push_back(
                        {source, key.ttype - 1, key.tclass - 1, datum->otype - 1, key.name, {}});
                });
            }
        }
    }
}

/// What edgegpu uses of a policy of libsepol, read from `size` bytes.
PolicyData convert(const policydb_t& from, std::size_t size, const std::string& name) {
    for (const auto& table : from.symtab) {
        // Each symbol has more than a byte; memory is allocated for as many as there should be.
        if (table.nprim > size) {
            throw error("{}: not a binary policy that can be read: {} bytes with {} symbols", name,
                        size, table.nprim);
        }
    }
    PolicyData policy;
    read_types(from, policy);
    read_classes(from, policy);
    read_booleans(from, policy);
    read_rules(from, policy);
    read_named_transitions(from, policy);
    const auto unknown = [&](const TransitionRule& rule) {
        return rule.source >= policy.types.size() || rule.target >= policy.types.size() ||
               rule.type >= policy.types.size() || rule.tclass >= policy.classes.size();
    };
    if (std::ranges::any_of(policy.transitions, unknown)) {
        throw error("{}: a rule refers to a type or class that the policy does not define", name);
    }
    return policy;
}

}  // namespace

PolicyData parse_policy(std::string content, const std::string& name) {
    const std::size_t size = content.size();
    const OwnedPolicy owned = open_policy(content, name);
    return convert(owned->p, size, name);
}

// Every policy is untrusted: a package brings it, a program of the image compiled it from modules
// of packages, or it is in a commit of somebody else. libsepol takes the counts in it at their
// word: 100 bytes make it allocate 15 GB and loop for minutes, and its tables with few slots take
// quadratic time. A check of the counts alone would need a parser of all tables before the last
// count, and leave the time. So libsepol reads in a child process with limits, once: what it has
// read is passed on, instead of reading it a second time here, which takes a second for the largest
// policies.
ChildLimits policy_limits(std::size_t size) {
    // Measured with policies of distributions: 7 times the size, and 0.1 seconds for a MiB.
    const std::chrono::seconds time(10 + (size >> 20U));
    return {(std::uint64_t{256} << 20U) + 16 * std::uint64_t{size}, time, 10 * time};
}

namespace {

/// In the child, which ends then: to free 100,000 nodes first takes as long as all of the passing
/// on.
std::string read_and_pack(const std::string& input, const std::string& name) {
    std::string content = input;
    const std::size_t size = content.size();
    OwnedPolicy owned = open_policy(content, name);
    std::string packed = pack_policy(convert(owned->p, size, name));
    static_cast<void>(owned.release());
    return packed;
}

const ChildFunction policy_reader("policy", read_and_pack);

}  // namespace

PolicyData read_policy(const Context& ctx, std::string content, const std::string& name) {
    const ChildLimits limits = policy_limits(content.size());
    const ChildCall call = call_in_child(ctx, policy_reader, std::move(content), name, limits);
    switch (call.end) {
        case ChildCall::End::returned:
            return unpack_policy(call.result);
        case ChildCall::End::refused:
            throw Error(call.result).hinted(call.hint);
        case ChildCall::End::exhausted:
            throw error(
                "{}: not a binary policy that can be read: it takes more than {} of memory "
                "or {} seconds",
                name, human_size(limits.memory), limits.time.count())
                .hinted("it is damaged, or made to exhaust the machine");
        case ChildCall::End::crashed:
            break;
    }
    throw error("{}: not a binary policy that can be read: libsepol crashes", name)
        .hinted("it is damaged, or made to attack programs that read it");
}

}  // namespace edgegpu::selinux
