#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

void add_machine_options(CLI::App& verb, TestCommand& test) {
    add_choice(
        verb, "--accel", test.accelerator,
        {{"auto", Accelerator::automatic}, {"kvm", Accelerator::kvm}, {"tcg", Accelerator::tcg}},
        "What executes the machine's instructions; auto: KVM if a machine starts with it, "
        "else TCG, which emulates them (default: auto)");
    add_choice(verb, "--firmware", test.firmware,
               {{"uefi", Firmware::uefi}, {"bios", Firmware::bios}},
               "Firmware that starts the disk (default: uefi)");
    add_nonempty(verb, "--gpu", test.host_gpus, "ADDRESS",
                 "Give the machine a display adapter where --domain of edgegpu image puts this GPU "
                 "of a host (0000:3b:00.0@1): its kernel has to know the NUMA node; can be given "
                 "several times")
        ->expected(1)
        ->take_all();
    verb.add_flag("--keep", test.keep,
                  "Keep the machine's disk and all its files, and print where they are");
    add_value(verb, "--output", test.output, "DIR",
              "Directory for consoles and screenshots (default: edgegpu-test, in the working "
              "directory, and only if a check fails)");
}

}  // namespace

void add_test(CLI::App& app, TestCommand& test) {
    CLI::App* verb = app.add_subcommand(
        "test", "Boot a commit in a virtual machine and check it; rehearse upgrade and rollback");
    add_value(*verb, "REF", test.ref, "COMMIT",
              "Ref, checksum or abbreviated checksum of the commit to test")
        ->required();
    add_value(*verb, "--repo", test.repo, "DIR",
              "ostree repository of the commit; it is only read (default: repo, in the "
              "working directory)");
    CLI::Option* const from =
        add_value(*verb, "--from", test.from, "COMMIT",
                  "Boot this commit first, and upgrade it to REF as a device would; a "
                  "trailing ^ selects the parent");
    verb->add_flag("--rollback", test.rollback,
                   "Also upgrade with a health check that fails: the boot loader has to return to "
                   "the commit before")
        ->needs(from);
    verb->add_flag("--rollback-only", test.rollback_only,
                   "The same without the upgrade that goes well")
        ->needs(from);
    add_value(*verb, "--checks", test.checks, "DIR",
              "Run the executable files of this directory in the machine, as root; exit "
              "status 0 is passed, 77 skipped, any other failed");
    CLI::Option* const blueprint =
        add_value(*verb, "--blueprint", test.blueprint, "FILE",
                  "Blueprint whose [test] says which checks to run in the machine, and which "
                  "SELinux denials do not count, and whose volumes the disk has");
    add_parameter_options(*verb, test.parameters, blueprint);
    add_value(*verb, "--junit", test.junit, "FILE",
              "Write the results to this file as JUnit's XML");
    add_machine_options(*verb, test);
}

}  // namespace edgegpu
