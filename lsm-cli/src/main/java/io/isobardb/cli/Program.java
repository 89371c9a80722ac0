package io.isobardb.cli;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Count;
import io.isobardb.cli.console.ErrorText;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Messages;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Output;
import io.isobardb.cli.console.OutputException;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.inspect.BackupCommand;
import io.isobardb.cli.inspect.CheckCommand;
import io.isobardb.cli.inspect.CompactCommand;
import io.isobardb.cli.inspect.DeleteCommand;
import io.isobardb.cli.inspect.DumpCommand;
import io.isobardb.cli.inspect.ExportCommand;
import io.isobardb.cli.inspect.GetCommand;
import io.isobardb.cli.inspect.LoadCommand;
import io.isobardb.cli.inspect.PutCommand;
import io.isobardb.cli.inspect.RepairCommand;
import io.isobardb.cli.inspect.RestoreCommand;
import io.isobardb.cli.inspect.ScanCommand;
import io.isobardb.cli.inspect.StatsCommand;
import io.isobardb.cli.inspect.TuneReportCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * A program of commands: what its options' values look like, how it tells of errors, and with which
 * code it ends. {@link Main} has the commands about a store; other programs add theirs.
 */
public abstract class Program implements Runnable {
  /** What {@code --version} prints. */
  public static final String VERSION = "isobar 0.1.0-SNAPSHOT";

  /** The commands about a store. */
  private static final List<Class<?>> STORE_COMMANDS =
      List.of(
          CheckCommand.class,
          DumpCommand.class,
          RepairCommand.class,
          StatsCommand.class,
          TuneReportCommand.class,
          BackupCommand.class,
          RestoreCommand.class,
          GetCommand.class,
          PutCommand.class,
          DeleteCommand.class,
          ScanCommand.class,
          CompactCommand.class,
          ExportCommand.class,
          LoadCommand.class);

  private static final Pattern NO_CHOICE =
      Pattern.compile("expected one of \\[(.*)] \\(case-insensitive\\) but was '(.*)'");
  private static final Pattern NO_PAIR =
      Pattern.compile(
          "[Vv]alue for option (?:option )?'(.*)' \\((.*)\\) should be in KEY=VALUE format but was (.*)");

  private static final char REPLACEMENT = '\uFFFD';
  private static final String TRACE = "isobar.trace";

  @Spec private CommandSpec spec;

  /** A program without commands as yet. */
  protected Program() {}

  /** Sets what child processes are told, too. */
  @Option(
      names = "--trace",
      scope = ScopeType.INHERIT,
      description = "Add a stack trace to the message of a failure.")
  private void trace(boolean on) {
    if (on) {
      System.setProperty(TRACE, "true");
    }
  }

  /** Holds for child processes, too. */
  @Option(
      names = "--log",
      scope = ScopeType.INHERIT,
      paramLabel = "LEVEL[:FILE]",
      description =
          "Log what the engine tells, to standard error or to the end of FILE: error, warning (the"
              + " default), info, debug, trace or off.")
  private void log(String levelAndFile) {
    Messages.ask(levelAndFile);
  }

  @Option(
      names = "--log-format",
      scope = ScopeType.INHERIT,
      paramLabel = "FORMAT",
      description = "Log as text, or as json: an object for each message, one to a line.")
  private void logFormat(Messages.Format format) {
    Messages.ask(format);
  }

  /** {@return whether stack traces are asked for} */
  public static boolean traces() {
    return Boolean.getBoolean(TRACE);
  }

  /**
   * {@return the command line of this program: the commands about a store, and then {@code more}}
   *
   * @param more classes of commands, in the order of the help
   */
  protected final CommandLine commandLine(List<Class<?>> more) {
    CommandLine line = new CommandLine(this);
    STORE_COMMANDS.forEach(line::addSubcommand);
    more.forEach(line::addSubcommand);
    line.addSubcommand(HelpCommand.class);
    line.getCommandSpec()
        .preprocessor((args, command, argument, seen) -> unreadable(args, command));
    // Else a key or value that begins with @ would be taken for a file of arguments.
    line.setExpandAtFiles(false)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(Program::execute)
        .setParameterExceptionHandler((e, args) -> wrongUsage(e, e.getCommandLine()))
        .setExecutionExceptionHandler((e, failed, parsed) -> failed(e, failed));
    register(line, ByteSize.class, ByteSize::parse);
    register(line, TimeSpan.class, TimeSpan::parse);
    register(line, Count.class, Count::parse);
    register(line, int.class, Numbers::parseInt);
    register(line, Integer.class, Numbers::parseInt);
    register(line, long.class, Numbers::parseLong);
    register(line, Long.class, Numbers::parseLong);
    register(line, double.class, Numbers::parseDouble);
    register(line, Path.class, Program::path);
    describeExits(line);
    return line;
  }

  /**
   * Runs the command that {@code args} name, and ends the JVM with its code.
   *
   * @param program makes the command line, once the output is caught
   * @param args the name of a command, and what it takes
   */
  protected static void runAndExit(Supplier<CommandLine> program, String[] args) {
    // Java's own code for what nobody catches would be that of a finding.
    int code = Exit.FAILURE.code();
    try {
      // Before picocli looks at System.out.
      Output output = Output.install();
      code = run(program.get(), output, args);
    } catch (Throwable e) {
      System.err.println("isobar: " + e + advice(e));
      if (traces()) {
        e.printStackTrace();
      }
    }
    System.exit(code);
  }

  /** What to do about an error that is Java's. */
  private static String advice(Throwable e) {
    if (e instanceof OutOfMemoryError) {
      return "; give Java a larger heap, as by ISOBAR_OPTS=-Xmx2g";
    }
    return e instanceof LinkageError
        ? "; is the class path complete, and may the process open enough files (ulimit -n)?"
        : "; --trace shows where it happened";
  }

  /** Runs a command that prints to {@code output}; gives its code. */
  static int run(CommandLine line, Output output, String[] args) {
    try {
      int code = line.setOut(output.printer()).execute(args);
      line.getOut().flush();
      System.out.flush();
      return output.hasFailed() ? Exit.FAILURE.code() : code;
    } catch (OutputException e) {
      return failed(e, line);
    }
  }

  /** Picocli hands over what commands throw, but not what printing their help does. */
  private static int execute(ParseResult parsed) {
    try {
      Messages.configure();
      return new RunLast().execute(parsed);
    } catch (OutputException e) {
      return failed(e, parsed.commandSpec().commandLine());
    }
  }

  /** Without this, picocli would name Java's types in its message. */
  private static <T> void register(CommandLine line, Class<T> type, Function<String, T> parse) {
    ITypeConverter<T> converter =
        text -> {
          try {
            return parse.apply(text);
          } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
          }
        };
    line.registerConverter(type, converter);
  }

  /**
   * An empty one is seldom meant: a shell's variable is not set, and it would be this directory.
   */
  private static Path path(String text) {
    if (text.isEmpty()) {
      throw new UsageException("the path is empty; . is the current directory");
    }
    return Path.of(text);
  }

  /** Bytes that are no text in the locale's encoding are all one and the same to Java. */
  private static boolean unreadable(Collection<String> args, CommandSpec command) {
    for (String argument : args) {
      if (argument.indexOf(REPLACEMENT) >= 0) {
        throw new ParameterException(
            command.commandLine(),
            "the argument '"
                + argument
                + "' has characters that can't be read in this locale, whose encoding is "
                + System.getProperty("sun.jnu.encoding")
                + "; set LC_ALL=C.UTF-8, or give a key or value as 0x and hexadecimal digits, or with"
                + " --key-file or --stdin");
      }
    }
    return false;
  }

  private static void describeExits(CommandLine line) {
    UsageMessageSpec usage = line.getCommandSpec().usageMessage();
    usage.exitCodeListHeading("%nExit codes:%n").exitCodeList(Exit.table());
    line.getSubcommands().values().forEach(Program::describeExits);
  }

  private static int wrongUsage(Exception e, CommandLine line) {
    StringBuilder text = new StringBuilder();
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      text.append(sentence(plain(ErrorText.of(refusal(e)))));
    } else {
      String what =
          unmatched.isUnknownOption()
              ? "option"
              : line.getSubcommands().isEmpty() ? "further argument" : "command";
      text.append("there is no ").append(what).append(" '");
      String wrong = unmatched.getUnmatched().get(0);
      text.append(wrong).append('\'');
      List<String> suggestions =
          unmatched.getSuggestions().stream().filter(word -> beginsAlike(word, wrong)).toList();
      if (!suggestions.isEmpty()) {
        text.append("; did you mean ").append(String.join(", ", suggestions)).append('?');
      }
    }
    String name = line.getCommandSpec().qualifiedName();
    PrintWriter err = line.getErr();
    err.println(name + ": " + text + " (see '" + name + " --help')");
    err.flush();
    return Exit.USAGE.code();
  }

  /** What a setter of an option has refused: picocli would name the setter. */
  private static Throwable refusal(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof UsageException) {
        return cause;
      }
    }
    return e;
  }

  /** Few mistype a first letter, and what only ends alike helps nobody. */
  private static boolean beginsAlike(String word, String wrong) {
    return !wrong.isEmpty()
        && word.replace("-", "").startsWith(wrong.replace("-", "").substring(0, 1));
  }

  /** What picocli says of values, in the words of the other messages. */
  private static String plain(String message) {
    Matcher choice = NO_CHOICE.matcher(message);
    if (choice.find()) {
      String known = choice.group(1).toLowerCase(Locale.ROOT);
      return choice.replaceFirst(
          Matcher.quoteReplacement("'" + choice.group(2) + "' is none of " + known));
    }
    return NO_PAIR.matcher(message).replaceFirst("invalid value for option '$1': '$3' is not $2");
  }

  /** The message as it stands behind a colon. */
  private static String sentence(String message) {
    boolean capital =
        message.length() > 1
            && Character.isUpperCase(message.charAt(0))
            && Character.isLowerCase(message.charAt(1));
    return capital
        ? message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1)
        : message;
  }

  private static int failed(Exception e, CommandLine line) {
    Exit exit = Exit.of(e);
    if (Shutdown.isUnderWay() || e instanceof OutputException lost && lost.isReaderGone()) {
      return exit.code();
    }
    if (exit == Exit.USAGE && !(e instanceof FailedException)) {
      return wrongUsage(e, line);
    }
    PrintWriter err = line.getErr();
    err.println(line.getCommandSpec().qualifiedName() + ": " + ErrorText.of(e));
    if (traces()) {
      e.printStackTrace(err);
    }
    err.flush();
    return exit.code();
  }

  @Override
  public final void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }
}
