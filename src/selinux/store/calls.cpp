#include "selinux/store/calls.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_source.hpp"
#include "support/error.hpp"
#include "support/text/number.hpp"

namespace edgegpu::selinux {

namespace {

/// A recorded call and the position of the next argument.
class Call {
public:
    explicit Call(const std::vector<std::string>& argv) : argv_(argv) {}

    [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(argv_, " ")); }
    [[nodiscard]] Error refused(std::string_view why) const {
        return error("a scriptlet called '{}': {}", text(), why)
            .hinted("such a change of the policy cannot be replayed in an image build");
    }
    [[nodiscard]] bool done() const { return next_ >= argv_.size(); }
    const std::string& take() {
        if (done()) {
            throw refused("an argument is missing");
        }
        return argv_[next_++];
    }

private:
    const std::vector<std::string>& argv_;
    std::size_t next_ = 1;
};

/// An option, with its value if that is in the same word ("-X200", "--priority=200").
struct Option {
    char letter = 0;
    std::optional<std::string> value;
};

constexpr std::pair<std::string_view, char> semodule_long[] = {{"install", 'i'},
                                                               {"upgrade", 'u'},
                                                               {"remove", 'r'},
                                                               {"enable", 'e'},
                                                               {"disable", 'd'},
                                                               {"priority", 'X'},
                                                               {"store", 's'},
                                                               {"noreload", 'n'},
                                                               {"build", 'B'},
                                                               {"reload", 'R'},
                                                               {"verbose", 'v'},
                                                               {"path", 'p'},
                                                               {"list", 'l'},
                                                               {"list-modules", 'l'},
                                                               {"extract", 'E'},
                                                               {"ignore-module-cache", 'C'},
                                                               {"refresh", 'B'},
                                                               {"rebuild-if-modules-changed", 'B'},
                                                               {"disable_dontaudit", 'D'},
                                                               {"preserve_tunables", 'P'}};

/// Splits one word of semodule's command line into options ("-nBX200" gives three).
std::vector<Option> semodule_options(const Call& call, const std::string& word) {
    if (word.starts_with("--")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string_view name = std::string_view(word).substr(2, equals - 2);
        for (const auto& [known, letter] : semodule_long) {
            if (known == name) {
                return {{letter, equals < word.size() ? std::optional(word.substr(equals + 1))
                                                      : std::nullopt}};
            }
        }
        throw call.refused(fmt::format("unknown option {}", word));
    }
    std::vector<Option> result;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const bool valued = std::string_view("iuredXspE").find(word[i]) != std::string_view::npos;
        if (valued && i + 1 < word.size()) {
            result.push_back({word[i], word.substr(i + 1)});
            break;
        }
        result.push_back({word[i], std::nullopt});
    }
    return result;
}

struct SemoduleState {
    int priority = 400;
    char mode = 0;
};

void act(Transaction& transaction, const Call& call, std::set<ModuleId>& modules,
         const SemoduleState& state, const std::string& operand) {
    const std::string priority = std::to_string(state.priority);
    const auto push = [&](const std::string& option) {
        transaction.actions.insert(transaction.actions.end(), {"-X", priority, option, operand});
    };
    if (state.mode == 'i') {
        if (!operand.starts_with('/')) {
            throw call.refused(fmt::format("'{}' is not an absolute path", operand));
        }
        push("-i");
        transaction.module_files.push_back(operand);
        modules.emplace(state.priority, policy_module_name(operand));
    } else if (state.mode == 'r') {
        // A real semodule fails here, which scriptlets ignore; in the transaction, one failure
        // would undo everything.
        if (modules.erase({state.priority, operand}) == 0) {
            transaction.skipped.push_back(call.text());
            return;
        }
        push("-r");
    } else {
        const bool known =
            std::ranges::any_of(modules, [&](const ModuleId& id) { return id.second == operand; });
        if (!known) {
            transaction.skipped.push_back(call.text());
            return;
        }
        push(state.mode == 'e' ? "-e" : "-d");
    }
}

void add_semodule(Transaction& transaction, Call& call, std::set<ModuleId>& modules,
                  const std::string& type) {
    SemoduleState state;
    const auto apply = [&](const Option& option) {
        const auto value = [&] { return option.value ? *option.value : call.take(); };
        switch (option.letter) {
            case 'n':
            case 'N':
            case 'v':
            case 'R':
            case 'l':
            case 'C':
                break;
            case 'B':
                transaction.rebuild = true;
                break;
            case 'p':
                if (value() != "/") {
                    throw call.refused("it names another root");
                }
                break;
            case 's':
                if (value() != type) {
                    throw call.refused(fmt::format("the image's policy is '{}'", type));
                }
                break;
            case 'X': {
                state.priority = whole_number<int>(value()).value_or(0);
                if (state.priority < 1 || state.priority > 999) {
                    throw call.refused("the priority is not a number from 1 to 999");
                }
                break;
            }
            case 'i':
            case 'u':
            case 'r':
            case 'e':
            case 'd':
                state.mode = option.letter == 'u' ? 'i' : option.letter;
                act(transaction, call, modules, state, value());
                break;
            default:
                throw call.refused(fmt::format("option -{} is not understood", option.letter));
        }
    };
    while (!call.done()) {
        const std::string word = call.take();
        if (word.size() > 1 && word.front() == '-') {
            for (const Option& option : semodule_options(call, word)) {
                apply(option);
            }
        } else if (state.mode != 0) {
            act(transaction, call, modules, state, word);
        } else {
            throw call.refused(fmt::format("'{}' is not understood", word));
        }
    }
}

bool boolean_value(const Call& call, const std::string& text) {
    if (text == "1" || text == "on" || text == "true") {
        return true;
    }
    if (text == "0" || text == "off" || text == "false") {
        return false;
    }
    throw call.refused(fmt::format("'{}' is not the value of a boolean", text));
}

void add_setsebool(Transaction& transaction, Call& call) {
    bool persistent = false;
    while (!call.done()) {
        const std::string word = call.take();
        if (word.starts_with('-')) {
            if (word.find_first_not_of("-PNV") != std::string::npos) {
                throw call.refused(fmt::format("option {} is not understood", word));
            }
            persistent = persistent || word.find('P') != std::string::npos;
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const bool value = boolean_value(
            call, equals == std::string::npos ? call.take() : word.substr(equals + 1));
        if (persistent) {
            transaction.booleans[name] = value;
        } else {
            // Without -P only the running kernel would be changed.
            transaction.skipped.push_back(call.text());
        }
    }
}

struct SemanageArguments {
    char verb = 0;
    std::string type, file_type, equal, range = "s0", user = "system_u";
    std::optional<bool> value;
    std::vector<std::string> operands;
};

SemanageArguments semanage_arguments(Call& call, const std::string& policy) {
    SemanageArguments result;
    while (!call.done()) {
        const std::string word = call.take();
        if (word == "-a" || word == "--add" || word == "-m" || word == "--modify") {
            result.verb = word == "-a" || word == "--add" ? 'a' : 'm';
        } else if (word == "-t" || word == "--type") {
            result.type = call.take();
        } else if (word == "-f" || word == "--ftype") {
            result.file_type = call.take();
        } else if (word == "-e" || word == "--equal") {
            result.equal = call.take();
        } else if (word == "-r" || word == "--range") {
            result.range = call.take();
        } else if (word == "-s" || word == "--seuser") {
            result.user = call.take();
        } else if (word == "-1" || word == "--on" || word == "-0" || word == "--off") {
            result.value = word == "-1" || word == "--on";
        } else if (word == "-S" || word == "--store") {
            if (call.take() != policy) {
                throw call.refused(fmt::format("the image's policy is '{}'", policy));
            }
        } else if (word == "-N" || word == "--noreload" || word == "-n" || word == "--noheading") {
            continue;
        } else if (word.starts_with('-')) {
            throw call.refused(fmt::format("option {} is not understood", word));
        } else {
            result.operands.push_back(word);
        }
    }
    return result;
}

std::string file_type_letter(const Call& call, const std::string& text) {
    if (text.empty() || text == "a" || text == "all files") {
        return {};
    }
    if (text == "f" || text == "--") {
        return "--";
    }
    if (text.size() == 1 && std::string_view("dcbslp").find(text) != std::string_view::npos) {
        return "-" + text;
    }
    if (text.size() == 2 && text[0] == '-' &&
        std::string_view("dcbslp").find(text[1]) != std::string_view::npos) {
        return text;
    }
    throw call.refused(fmt::format("'{}' is not a file type", text));
}

void add_semanage(Transaction& transaction, Call& call, const std::string& type) {
    const std::string object = call.take();
    const SemanageArguments arguments = semanage_arguments(call, type);
    if (arguments.verb == 0 || arguments.operands.size() != 1) {
        throw call.refused("only --add and --modify of one object are understood");
    }
    const std::string& operand = arguments.operands.front();
    if (operand.find_first_of("\n\r") != std::string::npos) {
        throw call.refused("it contains a line break");
    }
    if (object == "boolean" && arguments.value) {
        transaction.booleans[operand] = *arguments.value;
    } else if (object == "fcontext" && !arguments.equal.empty()) {
        transaction.substitutions[operand] = arguments.equal;
    } else if (object == "fcontext" && !arguments.type.empty()) {
        const std::string context =
            arguments.type == "<<none>>"
                ? arguments.type
                : fmt::format("{}:object_r:{}:{}", arguments.user, arguments.type, arguments.range);
        transaction.file_contexts[{operand, file_type_letter(call, arguments.file_type)}] = context;
    } else if (object == "permissive" && arguments.verb == 'a') {
        transaction.permissive.insert(operand);
    } else {
        throw call.refused("this object of semanage is not understood");
    }
}

}  // namespace

void add_call(Transaction& transaction, const std::vector<std::string>& argv,
              std::set<ModuleId>& modules, const std::string& type) {
    if (argv.empty()) {
        throw error("an empty call of a policy tool was recorded");
    }
    Call call(argv);
    const std::string program = std::filesystem::path(argv.front()).filename();
    if (program == "semodule") {
        add_semodule(transaction, call, modules, type);
    } else if (program == "setsebool") {
        add_setsebool(transaction, call);
    } else if (program == "semanage") {
        add_semanage(transaction, call, type);
    } else {
        throw call.refused("this policy tool is not supported");
    }
}

}  // namespace edgegpu::selinux
