// Subcommands and options, by CLI11. Values are parsed by cli/parse, so that every mistake gets the same kind of
// sentence. SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>

#include "bench/version.h"
#include "cli/commands.h"
#include "cli/parse.h"
#include "cli/words.h"
#include "reports/accept/claim.h"
#include "reports/workload.h"
#include "reports/workload_file.h"

namespace assay {
namespace {

void add_run_options(CLI::App& command, Words& words) {
  command.add_option("--profile", words.profile, "How thorough: quick (the default), standard or full");
  command.add_option("--filter", words.filter, "Only cases whose name matches this regular expression");
  command.add_option("--device", words.devices, "Only this device, such as cpu or cuda:0; may be given again");
  command.add_option("--out", words.out_folder, "Folder for the run (default: runs/<time>-<host>)");
  command.add_option("--budget", words.budget, "Hard limit for everything together: 90s, 10m, 1h");
  command.add_option("--repeat", words.repeat, "Measure every case this many times, each in a fresh process");
  command.add_option("--label", words.labels, "Remember name=value with the run; may be given again");
  command.add_flag("--force", words.force, "Overwrite what is in the way");
  command.add_flag("--quiet", words.quiet, "No progress and no table");
}

void add_workload_options(CLI::App& command, Words& words) {
  command.add_option("--model", words.model, "A name (assay list models), a config.json, or a folder that holds one");
  command.add_option("--workload", words.workload, "A TOML file with the fields of a workload; flags go before it");
  command.add_flag("--train", words.train, "Judge training instead of inference");
  for (const WorkloadField& field : workload_fields())
    if (field.name != "purpose") command.add_option("--" + field.name, words.fields[field.name], field.meaning);
}

bool workload_given(const Words& words) {
  const auto typed = [](const auto& field) { return !field.second.empty(); };
  return words.train || !words.workload.empty() || std::any_of(words.fields.begin(), words.fields.end(), typed);
}

// The suite's own step of the model that was named, as near to the workload as it can be built.
Asked understand_asked(const Words& words) {
  const ModelSpec model = find_model(words.model);
  const Workload workload = resolve(understand_workload(words), model);
  if (model.kind != ModelKind::decoder)
    throw BadInput("--model " + words.model + ": the suite's own steps are of decoders");
  if (workload.layout.devices() > 1) throw BadInput("run measures steps on one device; leave the layout to plan");
  Asked asked;
  std::error_code none;
  const auto path = std::filesystem::absolute(words.model, none);
  asked.model = std::filesystem::exists(path, none) ? path.string() : words.model;
  asked.training = workload.purpose == Purpose::training;
  asked.batch = workload.batch;
  asked.context = workload.context;
  asked.precision = format_name(workload.weights);
  if (workload.weights.element == Element::fp8_e4m3) asked.precision = "fp8";
  if (asked.precision != "fp8" && asked.precision != "fp32" && asked.precision != "bf16" && asked.precision != "fp16")
    throw BadInput("--format " + asked.precision + ": the suite's own steps run in fp32, bf16, fp16 and fp8");
  asked.short_cache = bits(workload.kv.element) == 8;
  asked.recompute = text(workload.recompute);
  if (asked.training && workload.optimizer != Optimizer::adamw && workload.optimizer != Optimizer::adamw_8bit)
    throw BadInput("--optimizer " + text(workload.optimizer) + ": the suite's own steps have adamw and adamw8bit");
  asked.short_optimizer = workload.optimizer == Optimizer::adamw_8bit;
  if (asked.training && workload.tuning == Tuning::lora) asked.lora_rank = workload.lora_rank;
  asked.micro_batches = workload.accumulation;
  return asked;
}

RunOptions understand_run(const Words& words, const std::string& command, bool colour) {
  RunOptions options;
  if (!words.profile.empty()) options.profile = parse_profile(words.profile);
  options.filter = words.filter;
  options.devices = words.devices;
  options.out = words.out_folder;
  options.resume = words.resume;
  if (!words.budget.empty()) options.budget_seconds = parse_duration(words.budget);
  if (!words.repeat.empty()) options.repeat = static_cast<int>(parse_whole("--repeat", words.repeat, 1));
  for (const std::string& label : words.labels) options.labels.insert(parse_label(label));
  options.force = words.force;
  options.quiet = words.quiet;
  options.colour = colour;
  options.command = command;
  options.plugins = words.plugins;
  return options;
}

ReportQuestion understand_report(const Words& words) {
  ReportQuestion question;
  for (const std::string& run : words.runs) question.runs.emplace_back(run);
  question.model = words.model;
  question.workload = understand_workload(words);
  question.device = words.device;
  for (const std::string& file : words.out_files) question.out.emplace_back(file);
  question.force = words.force;
  question.whole = words.whole;
  if (!words.price.empty()) question.dollars_per_hour = parse_price(words.price);
  if (question.model.empty() && workload_given(words)) {
    throw BadInput("the workload options need a model: add --model NAME (assay list models shows the names)");
  }
  return question;
}

WatchRequest understand_watch(const Words& words) {
  WatchRequest request;
  request.command = words.watched;
  if (request.command.empty()) throw BadInput("watch what? Write assay watch [options] -- COMMAND [ARGUMENT...]");
  if (!words.period.empty()) request.period = parse_period("--period", words.period);
  request.model = words.model;
  request.workload = understand_workload(words);
  if (request.model.empty() && workload_given(words))
    throw BadInput("the workload options need a model: add --model NAME (assay list models shows the names)");
  request.framework = words.framework;
  for (const std::string& file : words.out_files) request.out.emplace_back(file);
  request.plugins = words.plugins;
  request.force = words.force;
  request.quiet = words.quiet;
  request.whole = words.whole;
  return request;
}

// Takes the command to watch off the end: what stands behind "--" is not ours to understand.
int cut_watched(int argc, const char* const* argv, Words& words) {
  if (argc < 2 || std::string(argv[1]) != "watch") return argc;
  for (int index = 2; index < argc; ++index) {
    if (std::string(argv[index]) != "--") continue;
    words.watched.assign(argv + index + 1, argv + argc);
    return index;
  }
  return argc;
}

// The command as typed, for the record in the run; arguments with spaces are quoted.
std::string typed(int argc, const char* const* argv) {
  std::string line = "assay";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" \t\"'\\$") == std::string::npos && !word.empty();
    line += plain ? " " + word : " '" + word + "'";
  }
  return line;
}

// "assay 0.1.0 (4013dc4, Release)"
std::string version_line() {
  return "assay " + version::program + " (" + (version::commit.empty() ? "" : version::commit + ", ") +
         version::build_type + ")";
}

AcceptQuestion understand_accept(const Words& words) {
  AcceptQuestion question;
  question.explain = words.explain;
  question.verify = words.verify;
  question.claim = words.claim;
  if (question.explain.empty() && question.verify.empty() && words.runs.size() != 1) {
    throw BadInput(words.runs.empty() ? "accept needs a run: assay accept RUN --claim \"8x H100 SXM 80GB\""
                                      : "accept judges one run; give others of its kind with --fleet RUN");
  }
  if (!words.runs.empty()) question.run = words.runs.front();
  for (const std::string& run : words.fleet) question.fleet.emplace_back(run);
  for (const std::string& file : words.out_files) question.out.emplace_back(file);
  question.redact = words.redact;
  question.force = words.force;
  question.whole = words.whole;
  return question;
}

ComparedQuestion understand_compare(const Words& words) {
  ComparedQuestion question;
  for (const std::string& run : words.runs) question.runs.emplace_back(run);
  question.devices = words.devices;
  for (const std::string& price : words.prices) question.prices.push_back(parse_price(price));
  question.model = words.model;
  question.workload = understand_workload(words);
  question.claim = words.claim;
  for (const std::string& file : words.out_files) question.out.emplace_back(file);
  question.force = words.force;
  question.whole = words.whole;
  return question;
}

GateQuestion understand_gate(const Words& words) {
  GateQuestion question = understand_gate(words.gate);
  question.model = words.model;
  question.workload = understand_workload(words);
  for (const std::string& file : words.out_files) question.out.emplace_back(file);
  question.force = words.force;
  question.whole = words.whole;
  return question;
}

struct Commands {
  CLI::App* run = nullptr;
  CLI::App* report = nullptr;
  CLI::App* evaluate = nullptr;
  CLI::App* accept = nullptr;
  CLI::App* compare = nullptr;
  CLI::App* gate = nullptr;
  CLI::App* list = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* watch = nullptr;
  CLI::App* plan = nullptr;
};

Commands declare(CLI::App& app, Words& words) {
  Commands commands;
  app.set_version_flag("--version", version_line());
  app.add_option("--color,--colour", words.colour, "auto (the default), always or never");
  app.add_option("--plugins", words.plugins, "")->group("");
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.allow_extras();  // what a command does not know falls through to here, and is looked at afterwards

  commands.evaluate = app.add_subcommand("evaluate", "Look, measure and judge: doctor, run, accept and report in one");
  add_run_options(*commands.evaluate, words);
  add_workload_options(*commands.evaluate, words);
  commands.evaluate->add_option("--claim", words.claim, "What was promised: \"8x H100 SXM 80GB, 2 TB NVMe, 26 vCPU\"");
  commands.evaluate->add_option("--fleet", words.fleet, "A run of another such machine, or an earlier one; may repeat");
  commands.evaluate->add_option("--price", words.price, "USD an hour for the machine: 2.49USD/h");

  commands.run = app.add_subcommand("run", "Measure this machine and leave a run on disk");
  add_run_options(*commands.run, words);
  add_workload_options(*commands.run, words);
  commands.run->add_option("--resume", words.resume, "Go on with an unfinished run");

  commands.report = app.add_subcommand("report", "Say what fits on the measured device, and how fast");
  commands.report->add_option("runs", words.runs, "Run folders, or packed .tgz files of them")->required();
  add_workload_options(*commands.report, words);
  commands.report->add_option("--price", words.price, "USD an hour for the machine: 2.49USD/h");
  commands.report->add_option("--device", words.device, "Which device of the run (default: its first)");
  commands.report->add_option("--out", words.out_files, "Write FILE.html, .md, .json or .txt; may be given again");
  commands.report->add_flag("--force", words.force, "Overwrite these files");
  commands.report->add_flag("--full", words.whole, "Print everything, not only the first screen");

  commands.accept = app.add_subcommand("accept", "Hold a rented machine against what was promised, and certify it");
  commands.accept->add_option("runs", words.runs, "A run folder, or a packed .tgz file of it");
  commands.accept->add_option("--claim", words.claim, "What was promised: \"8x H100 SXM 80GB, 2 TB NVMe, 26 vCPU\"");
  commands.accept->add_option("--fleet", words.fleet, "A run of another such machine, or an earlier one; may repeat");
  commands.accept->add_option("--out", words.out_files, "Certificate as FILE.html or .json; .md, .txt; may repeat");
  commands.accept->add_flag("--redact", words.redact, "Leave names, addresses and serial numbers out");
  commands.accept->add_option("--explain", words.explain, "Say why a rule is there (assay list rules)");
  commands.accept->add_option("--verify", words.verify, "Check the checksum of a certificate's JSON");
  commands.accept->add_flag("--force", words.force, "Overwrite these files");
  commands.accept->add_flag("--full", words.whole, "Print every rule, not only the first screen");

  commands.compare = app.add_subcommand("compare", "Devices and vendors side by side, like with like");
  commands.compare->add_option("runs", words.runs, "Run folders, or packed .tgz files of them")->required();
  commands.compare->add_option("--device", words.devices, "Only this device: cuda:0, cpu; may be given again");
  commands.compare->add_option("--price", words.prices, "USD an hour and device: 2.49USD/h; once, or for each run");
  commands.compare->add_option("--claim", words.claim, "A claim of speed: \"H100 is 30x A100 at inference\"");
  add_workload_options(*commands.compare, words);
  commands.compare->add_option("--out", words.out_files, "Write FILE.html, .md, .json, .csv or .txt; may repeat");
  commands.compare->add_flag("--force", words.force, "Overwrite these files");
  commands.compare->add_flag("--full", words.whole, "Print everything, not only the first screen");

  commands.gate = app.add_subcommand("gate", "Say whether a new driver, library or setting made the machine slower");
  add_gate_options(*commands.gate, words.gate);
  add_workload_options(*commands.gate, words);
  commands.gate->add_option("--out", words.out_files, "Write FILE.html, .md, .json or .txt; may be given again");
  commands.gate->add_flag("--force", words.force, "Overwrite these files");
  commands.gate->add_flag("--full", words.whole, "Print everything, not only the first screen");

  commands.list = app.add_subcommand("list", "What there is: devices, benchmarks, models, gpus, profiles, rules");
  commands.list->add_option("what", words.list_what, "devices, benchmarks, models, gpus, profiles or rules")
      ->required();

  commands.doctor = app.add_subcommand("doctor", "What can be measured here, what cannot, why, and how to mend it");

  commands.plan = app.add_subcommand("plan", "Say what fits on cards that were not measured, and at what cost");
  add_workload_options(*commands.plan, words);
  add_plan_options(*commands.plan, words);

  commands.watch = app.add_subcommand("watch", "Run a command of your own after -- and say what it took");
  add_workload_options(*commands.watch, words);
  commands.watch->add_option("--period", words.period, "Time between two looks: 100ms (the default), 20ms, 1s");
  commands.watch->add_option("--framework-counters", words.framework,
                             "JSON in which the program leaves its framework's figures");
  commands.watch->add_option("--out", words.out_files, "Write FILE.html, .md, .json or .txt; may be given again");
  commands.watch->add_flag("--force", words.force, "Overwrite these files");
  commands.watch->add_flag("--quiet", words.quiet, "Print nothing; only with --out");
  commands.watch->add_flag("--full", words.whole, "Print everything, not only the first screen");
  return commands;
}

int usage(const std::string& problem, const std::string& command = "") {
  std::fprintf(stderr, "assay: %s\nTry: assay %s--help\n", problem.c_str(),
               command.empty() ? "" : (command + " ").c_str());
  return exit_usage;
}

// What nobody understood: of Google Benchmark's flags some do, where `run` was asked for.
std::optional<std::string> refused(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return std::nullopt;
  const std::string first = printable(left.front(), true);
  if (!app.get_subcommands().empty()) {
    const CLI::App& command = *app.get_subcommands().front();
    std::vector<std::string> options;
    for (const CLI::Option* option : command.get_options()) options.push_back(option->get_name());
    return command.get_name() + " does not know '" + first + "'" +
           did_you_mean(first.substr(0, first.find('=')), options);
  }
  if (first.front() == '-') return "there is no option '" + first + "'";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return "there is no command '" + first + "'" + did_you_mean(first, names);
}

// What a command was not given though it cannot do without, in its own words; "" where that is not the mistake.
std::string missing_argument(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    std::string name = option->get_name(option->get_positional());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return command.get_name() + " needs " + name + ": " + option->get_description();
  }
  return "";
}

}  // namespace

Workload understand_workload(const Words& words) {
  Workload workload = words.workload.empty() ? default_workload(Purpose::inference) : read_workload(words.workload);
  if (words.train) workload.purpose = Purpose::training;
  for (const WorkloadField& field : workload_fields()) {
    const auto typed = words.fields.find(field.name);
    if (typed == words.fields.end() || typed->second.empty()) continue;
    field.set(workload, "--" + field.name, typed->second);
    if (implies_training(field.name)) workload.purpose = Purpose::training;
  }
  return workload;
}

int run_command_line(int argc, const char* const* argv) {
  CLI::App app("Assay measures what a GPU server really delivers for AI work, and says whether a model fits on it.",
               "assay");
  Words words;
  const Commands commands = declare(app, words);
  try {
    app.parse(cut_watched(argc, argv, words), argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& mistake) {
    if (argc > 1 && std::string(argv[1]) == "watch" && words.watched.empty())
      return usage("the command to watch stands behind --: assay watch [options] -- COMMAND [ARGUMENT...]");
    if (app.get_subcommands().empty()) return usage(mistake.what());
    const CLI::App& command = *app.get_subcommands().front();
    const std::string missing = mistake.get_name() == "RequiredError" ? missing_argument(command) : "";
    return usage(missing.empty() ? mistake.what() : missing, command.get_name());
  }

  if (!*commands.run) {
    if (const auto problem = refused(app))
      return usage(*problem, app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name());
  }
  const auto choice = parse_choice<ColourChoice>(
      "--color", words.colour,
      {{"auto", ColourChoice::automatic}, {"always", ColourChoice::always}, {"never", ColourChoice::never}});
  const Terminal terminal = look_at_terminal(choice);
  if (*commands.plan) return plan(understand_plan(words), terminal);
  if (*commands.watch) return watch(understand_watch(words), terminal);
  if (*commands.doctor) return doctor(terminal, words.plugins);
  if (*commands.list) return list(words.list_what, terminal, words.plugins);
  if (*commands.report) return report(understand_report(words), terminal);
  if (*commands.compare) return compare(understand_compare(words), terminal);
  if (*commands.gate) return run_gate(understand_gate(words), terminal);
  if (*commands.accept) return accept(understand_accept(words), terminal);
  if (*commands.evaluate) {
    AcceptQuestion claimed;
    claimed.claim = words.claim;
    for (const std::string& run : words.fleet) claimed.fleet.emplace_back(run);
    return evaluate(understand_run(words, typed(argc, argv), terminal.colour), understand_report(words), claimed,
                    terminal);
  }
  if (*commands.run) {
    RunOptions options = understand_run(words, typed(argc, argv), terminal.colour);
    if (!words.model.empty()) options.asked = understand_asked(words);
    if (words.model.empty() && workload_given(words))
      throw BadInput("the workload options need a model: add --model NAME (assay list models shows the names)");
    for (const std::string& extra : app.remaining(true)) {
      if (!take_google_flag(extra, options)) return usage(refused(app).value_or(extra), "run");
    }
    if (options.resume.empty()) choose_devices(options);
    return run(options);
  }
  return show_overview(terminal, words.plugins);
}

}  // namespace assay
