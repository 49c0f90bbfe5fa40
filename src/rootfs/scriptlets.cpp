#include "rootfs/scriptlets.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "image/account_files.hpp"
#include "image/image_root.hpp"
#include "image/kernel_arguments.hpp"
#include "rootfs/owners.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view script_path = "/run/edgegpu/scriptlet";
/// Printed by `wrap_lua` if the scriptlet raised an error: the exit status of rpm --eval does not
/// reliably indicate it.
constexpr std::string_view lua_failed = "edgegpu: the lua scriptlet failed";

/// A lua program that runs a scriptlet with `arg` as rpm sets it (index 1 is the interpreter's
/// name; rpm's lua.md) and reports an error.
std::string wrap_lua(const Script& script) {
    std::string text = "arg = {'<lua>'";
    for (const int argument : script.arguments) {
        text += ", " + std::to_string(argument);
    }
    text += "}\nlocal body, problem = loadfile('/run/edgegpu/scriptlet.lua')\n";
    // Lua file triggers get their file names from rpm.next_file(); here it reads standard input.
    text += "if rpm then rpm.next_file = function() return io.read('*l') end end\n";
    text += "local ok = body ~= nil\n";
    text += "if ok then ok, problem = pcall(body) end\n";
    text += fmt::format("if not ok then io.stderr:write(tostring(problem), '\\n{}\\n') end\n",
                        lua_failed);
    return text;
}

class Runner {
public:
    Runner(const Context& ctx, Tree& tree, const std::vector<ImportedPackage>& packages,
           Shims& shims, fs::path scratch)
        : ctx_(ctx),
          tree_(tree),
          packages_(packages),
          shims_(shims),
          scratch_(std::move(scratch)) {}

    void run(Script script) {
        ctx_.check_cancelled();
        if (is_plain_ldconfig(script)) {
            shims_.note_ldconfig();
            return;
        }
        running_ = fmt::format("package {}: {}", name_of(script), script.kind);
        expand(script);
        const ProcessResult result =
            script.interpreter.front() == "<lua>" ? run_lua(script) : run_program(script);
        if (result.status != 0) {
            throw failure(script, result);
        }
        running_.clear();
    }

    /// Runs a program of the image with the shims in place.
    ProcessResult call(std::vector<std::string> argv, const std::string& input = {},
                       const Shims::Binds& more = {}) {
        SandboxCommand command;
        command.root = tree_.root;
        command.argv = std::move(argv);
        command.input = input;
        command.kernel = tree_.kernel;
        shims_.cover(ImageRoot(tree_.root));
        command.name = running_;
        command.read_only_binds = shims_.read_only_binds();
        command.read_only_binds.insert(command.read_only_binds.end(), more.begin(), more.end());
        command.writable_binds = shims_.writable_binds();
        ProcessResult result = run_in_sandbox(ctx_, command);
        if (const std::string fault = shims_.record_fault(); !fault.empty()) {
            throw error(
                "{} damaged /run/edgegpu-record, the record of what is left to the build: "
                "{}",
                running_.empty() ? command.argv.front() + " of the image" : running_, fault)
                .hinted("that path is reserved for edgegpu; leave the package out");
        }
        return result;
    }

private:
    [[nodiscard]] std::string name_of(const Script& script) const {
        return packages_[script.package].nevra.text();
    }

    /// Whether it is "%post -p /sbin/ldconfig", of which a large image has a hundred.
    [[nodiscard]] bool is_plain_ldconfig(const Script& script) const {
        const std::string& program = script.interpreter.front();
        return script.body.empty() && script.interpreter.size() == 1 &&
               (program == "/sbin/ldconfig" || program == "/usr/sbin/ldconfig") &&
               find_entry(tree_, program) != nullptr;
    }

    /// Applies the scriptlet's flags: macros of the image's own rpm, queries of its own header.
    void expand(Script& script) {
        if ((script.flags & script_is_query_format) != 0) {
            const char* problem = nullptr;
            const Handle<char, std::free> text(headerFormat(packages_[script.package].header.get(),
                                                            script.body.c_str(), &problem));
            if (!text) {
                throw error("package {}: the query format of its {} is wrong: {}", name_of(script),
                            script.kind, problem != nullptr ? problem : "unknown error");
            }
            script.body = text.get();
        }
        if ((script.flags & script_expands_macros) != 0) {
            require_rpm(script, "its macros are expanded when it runs");
            const ProcessResult result = call({"/usr/bin/rpm", "--eval", script.body});
            if (result.status != 0) {
                throw failure(script, result);
            }
            script.body = result.output;
        }
    }

    void require_rpm(const Script& script, std::string_view why) const {
        if (find_entry(tree_, "/usr/bin/rpm") == nullptr) {
            throw error("package {}: {} needs /usr/bin/rpm in the image: {}", name_of(script),
                        script.kind, why)
                .hinted("add the package rpm to the blueprint");
        }
    }

    ProcessResult run_lua(const Script& script) {
        require_rpm(script, "it is written in rpm's embedded lua");
        write_file(scratch_ / "scriptlet.lua", script.body, 0644);
        write_file(scratch_ / "wrapper.lua", wrap_lua(script), 0644);
        ProcessResult result = call(
            {"/usr/bin/rpm", "--eval", "%{lua:dofile('/run/edgegpu/wrapper.lua')}"}, script.input,
            {{scratch_ / "scriptlet.lua", "/run/edgegpu/scriptlet.lua"},
             {scratch_ / "wrapper.lua", "/run/edgegpu/wrapper.lua"}});
        const std::size_t mark = result.output.find(lua_failed);
        if (mark != std::string::npos) {
            result.output.resize(mark);
            result.status = result.status == 0 ? 1 : result.status;
        }
        return result;
    }

    ProcessResult run_program(const Script& script) {
        require_interpreter(script);
        std::vector<std::string> argv = script.interpreter;
        if (script.body.empty()) {
            return call(std::move(argv), script.input);
        }
        write_file(scratch_ / "scriptlet", script.body, 0755);
        argv.emplace_back(script_path);
        for (const int argument : script.arguments) {
            argv.push_back(std::to_string(argument));
        }
        return call(std::move(argv), script.input,
                    {{scratch_ / "scriptlet", std::string(script_path)}});
    }

    void require_interpreter(const Script& script) const {
        const std::string& program = script.interpreter.front();
        if (!ImageRoot(tree_.root).status(program, LastLink::followed)) {
            throw error("package {}: the interpreter {} of its {} is not in the image",
                        name_of(script), program, script.kind)
                .hinted("add the package that provides " + program + " to the blueprint");
        }
    }

    [[nodiscard]] Error failure(const Script& script, const ProcessResult& result) const {
        Error problem = error("package {}: {} failed with exit status {}", name_of(script),
                              script.kind, result.status);
        for (std::string& line : last_lines(result.output, 20)) {
            problem.traced(std::move(line));
        }
        return problem.hinted(
            "the scriptlet ran inside the image, without network and without a running system; "
            "leave the package out, or report this to its maintainer");
    }

    const Context& ctx_;
    Tree& tree_;
    const std::vector<ImportedPackage>& packages_;
    Shims& shims_;
    fs::path scratch_;
    /// The scriptlet that is running, for errors; else empty.
    std::string running_;
};

/// Runs a program of the image if there is one. Throws Error if it fails.
void run_if_present(Runner& runner, const Tree& tree, const std::string& program,
                    const std::vector<std::string>& arguments) {
    if (find_entry(tree, program) == nullptr) {
        return;
    }
    std::vector<std::string> argv{program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const ProcessResult result = runner.call(argv);
    if (result.status != 0) {
        Error problem = error("{} of the image failed with exit status {}", program, result.status);
        for (std::string& line : last_lines(result.output, 20)) {
            problem.traced(std::move(line));
        }
        throw problem;
    }
}

bool mentions_ldconfig(const std::vector<Script>& scripts) {
    return std::any_of(scripts.begin(), scripts.end(), [](const Script& script) {
        return script.interpreter.front().ends_with("ldconfig") ||
               script.body.find("ldconfig") != std::string::npos;
    });
}

}  // namespace

std::vector<std::vector<std::string>> run_scriptlets(
    const Context& ctx, Tree& tree, const std::vector<ImportedPackage>& packages, std::size_t first,
    const std::vector<NamedOwner>& owners, const ParentAccounts& parent, const fs::path& scratch) {
    make_directories(scratch);
    const ScriptPlan plan = plan_scripts(packages, first);
    Shims shims(tree, parent, scratch);
    Runner runner(ctx, tree, packages, shims, scratch);
    for (const std::string& package : plan.pretrans) {
        ctx.console->note("package " + package +
                          ": %pretrans is skipped, as there is no system before the first package");
    }
    // Programs that scriptlets call may find their libraries only through ld.so.conf.d.
    const bool has_ldconfig = find_entry(tree, "/sbin/ldconfig") != nullptr;
    if (has_ldconfig && mentions_ldconfig(plan.after)) {
        run_ldconfig(ctx, tree);
    }
    std::size_t done = 0;
    const std::size_t total = plan.before.size() + plan.after.size();
    const auto run_all = [&](const std::vector<Script>& scripts) {
        for (const Script& script : scripts) {
            ctx.console->progress(
                ++done, total,
                "scriptlets, " + packages[script.package].nevra.name + " " + script.kind);
            runner.run(script);
        }
    };
    run_all(plan.before);
    shims.uncover();
    if (!apply_owners(ctx, tree, owners, true).empty()) {
        // Some packages ship a file in sysusers.d and no scriptlet that applies it.
        run_if_present(runner, tree, "/usr/bin/systemd-sysusers", {});
        shims.uncover();
        apply_owners(ctx, tree, owners, false);
    }
    run_all(plan.after);
    run_if_present(runner, tree, "/usr/bin/systemd-sysusers", {});
    shims.uncover();
    if (has_ldconfig && shims.ldconfig_called()) {
        run_ldconfig(ctx, tree);
    }
    tree.policy_calls = shims.take_policy_calls(ctx, tree);
    for (const std::vector<std::string>& call : shims.grubby_calls()) {
        apply_grubby_call(call, tree.kernel_arguments);
    }
    return shims.made_accounts();
}

void run_ldconfig(const Context& ctx, const Tree& tree) {
    SandboxCommand command;
    command.root = tree.root;
    command.argv = {"/sbin/ldconfig"};
    command.kernel = tree.kernel;
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != 0) {
        throw error("ldconfig of the image failed with exit status {}: {}", result.status,
                    result.output);
    }
    ImageRoot(tree.root).remove("/var/cache/ldconfig/aux-cache");
}

}  // namespace edgegpu
