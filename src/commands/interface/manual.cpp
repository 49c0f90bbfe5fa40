#include <fmt/format.h>

#include "commands/interface/interface.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// Text for a line of roff: a hyphen is a minus sign, and no line begins with a request.
std::string roff(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\') {
            result += "\\e";
        } else if (c == '-') {
            result += "\\-";
        } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
            result += std::string("\\&") + c;
        } else {
            result += c;
        }
    }
    return result;
}

std::string option_entry(const OptionInfo& option) {
    std::vector<std::string> names =
        mapped(option.names, [](const std::string& name) { return "\\fB" + roff(name) + "\\fR"; });
    std::string head = fmt::format("{}", fmt::join(names, ", "));
    if (option.positional) {
        head = "\\fI" + roff(option.names.front()) + "\\fR";
    } else if (!option.value.empty()) {
        head += " \\fI" + roff(option.value) + "\\fR";
    }
    return fmt::format(".TP\n{}{}\n{}.\n", head, option.repeated ? " ..." : "",
                       roff(option.description));
}

std::string options_of(const std::vector<OptionInfo>& options) {
    return sum_of(options, option_entry);
}

std::string synopsis(const CommandInfo& command) {
    std::string text = fmt::format("\\fBedgegpu {}\\fR", roff(command.name));
    for (const OptionInfo& option : command.options) {
        if (option.positional) {
            const std::string name = fmt::format("\\fI{}\\fR{}", roff(option.names.front()),
                                                 option.repeated ? " ..." : "");
            text += option.required ? " " + name : fmt::format(" [{}]", name);
        }
    }
    return text + " [\\fIOPTIONS\\fR]";
}

constexpr const char* tail = R"(.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
A failure that is none of those below.
.TP
.B 2
Wrong usage or an invalid blueprint.
.TP
.B 3
No set of packages satisfies the blueprint.
.TP
.B 4
A download failed, or a checksum or signature is wrong.
.TP
.B 76
The rollout is paused (only \fBrollout check\fR).
.TP
.B 77
The image is unchanged (only with \fB\-\-unchanged\-exit\-77\fR).
.TP
.B 130
Interrupted by SIGINT, SIGTERM or SIGHUP (a terminal that is gone). The ref has not changed; downloads are kept.
.SH ENVIRONMENT
.TP
.B NO_COLOR
If not empty, messages have no colours, unless \fB\-\-color always\fR is given.
.TP
.B XDG_CACHE_HOME
The default cache directory is \fI$XDG_CACHE_HOME/edgegpu\fR, else \fI$HOME/.cache/edgegpu\fR.
.TP
.B SOURCE_DATE_EPOCH
The time inside the image, in seconds since 1970, instead of the build time of its newest package;
of \fBpromote\fR, the time of the promotion instead of the present.
.TP
.BR GITLAB_USER_LOGIN ", " GITHUB_ACTOR ", " SUDO_USER
Who promotes, if \fB\-\-by\fR does not say it: the first that is set, else the user.
.TP
.B EDGEGPU_DATADIR
Directory of the shipped overlays, manifests and policy modules, instead of the installed ones.
.TP
.BR http_proxy ", " https_proxy ", " no_proxy
Proxies for repositories that do not set \fBproxy\fR.
.TP
.B TERM
With \fBdumb\fR, progress is not redrawn in place.
.SH NOTES
The result goes to standard output, everything else to standard error.
The documentation directory has schemas of the \fB\-\-json\fR documents, describes the events of
\fB\-\-progress\-fd\fR in progress.md, and the log in log.md.
The cache keeps the logs of the last ten builds in \fIlogs/\fR.
.PP
\fBbuild\fR does not need root. It needs user namespaces and, for ordinary users, a range of 65535
subordinate ids in \fI/etc/subuid\fR and \fI/etc/subgid\fR: see pipelines.md.
.SH EXAMPLES
.nf
edgegpu check gpu\-node.toml
edgegpu build gpu\-node.toml \-\-repo /srv/edge/repo
edgegpu diff rhel/9/x86_64/edge \-\-repo /srv/edge/repo
ostree \-\-repo=/srv/edge/repo log rhel/9/x86_64/edge
.fi
.SH SEE ALSO
.BR edgegpu\-blueprint (5),
.BR ostree (1)
)";

}  // namespace

std::string manual_page(const Interface& interface) {
    std::string text = fmt::format(
        ".TH EDGEGPU 1 \"\" \"edgegpu {}\" \"User Commands\"\n"
        ".SH NAME\n"
        "edgegpu \\- compose operating\\-system images for edge devices "
        "with GPUs\n.SH SYNOPSIS\n",
        EDGEGPU_VERSION);
    for (const CommandInfo& command : interface.commands) {
        text += synopsis(command) + "\n.br\n";
    }
    text += ".SH DESCRIPTION\n" + roff(interface.description) + '\n';
    text += ".SH COMMANDS\n";
    for (const CommandInfo& command : interface.commands) {
        text += fmt::format(".SS {}\n{}.\n", synopsis(command), roff(command.description));
        text += options_of(command.options);
    }
    text += ".SH GLOBAL OPTIONS\nThey can be given before or after the command.\n";
    return text + options_of(interface.options) + tail;
}

}  // namespace edgegpu
