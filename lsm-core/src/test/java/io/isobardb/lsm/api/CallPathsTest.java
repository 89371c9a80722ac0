package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Through which classes a call goes: docs/internals.md lists them. A debugger notes each method
 * that the calling thread enters. Of several calls alike those count that all of them enter, so
 * that what happens once in many calls is left out. With {@code -Dgolden.rewrite=true} the list is
 * written.
 */
@Tag("any-jdk")
class CallPathsTest {
  private static final Path PAGE = Path.of("../docs/internals.md");
  private static final String BEGIN = "<!-- made by CallPathsTest -->\n";
  private static final String END = "<!-- end -->\n";

  /** Calls that are alike. */
  private static final int TIMES = 3;

  /** Calls before them, so that nothing is used for the first time. */
  private static final int WARM_UP = 200;

  /** What the debugger looks at. */
  static final class Program {
    private Program() {}

    static void begin(String call) {}

    static void end() {}

    private static byte[] key(int i) {
      return ByteBuffer.allocate(8).putInt(i % 13).putInt(i).array();
    }

    private static void call(String name, Runnable call) {
      for (int i = 0; i < WARM_UP; i++) {
        call.run();
      }
      for (int i = 0; i < TIMES; i++) {
        begin(name);
        call.run();
        end();
      }
    }

    /** The directory to use is the argument. */
    public static void main(String[] arguments) {
      StoreOptions options =
          StoreOptions.builder().memoryBudget(16 << 20).memoryTuner(false).build();
      try (Store store = Store.open(Path.of(arguments[0]), options)) {
        Tree tree = store.openTree("tree");
        byte[] value = new byte[100];
        for (int i = 0; i < 2000; i++) {
          tree.put(key(i), value);
        }
        call("a put", () -> tree.put(key(77), value));
        call("a get from write memory", () -> tree.get(key(77)));
        store.flush();
        store.awaitQuiet();
        call("a get from the cache", () -> tree.get(key(78)));
        try (Cursor cursor = tree.cursor()) {
          cursor.first();
          call("a step of a scan", cursor::next);
        }
      }
    }
  }

  @Test
  void thePageListsTheClassesThatCallsGoThrough(@TempDir Path directory) throws Exception {
    Map<String, Set<String>> paths = paths(directory);
    assertEquals(4, paths.size(), "calls of the program that ended; java.class.path must have it");
    String list =
        paths.entrySet().stream()
            .map(
                path ->
                    "| "
                        + path.getKey()
                        + " | "
                        + path.getValue().size()
                        + " | "
                        + path.getValue().stream()
                            .map(name -> '`' + name + '`')
                            .collect(Collectors.joining(", "))
                        + " |\n")
            .collect(Collectors.joining("", "| call | files | classes |\n|---|---|---|\n", ""));
    String page = Files.readString(PAGE);
    int from = page.indexOf(BEGIN) + BEGIN.length();
    int to = page.indexOf(END);
    assertTrue(from >= BEGIN.length() && to >= from, "the marks in " + PAGE);
    String updated = page.substring(0, from) + list + page.substring(to);
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(PAGE, updated);
    } else {
      assertEquals(updated, page, "-Dtest.jvm.args=-Dgolden.rewrite=true writes it");
    }
  }

  /** The top-level classes of the engine that each of the program's calls enters. */
  private static Map<String, Set<String>> paths(Path directory) throws Exception {
    LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
    Map<String, Connector.Argument> arguments = connector.defaultArguments();
    arguments.get("home").setValue(System.getProperty("java.home"));
    arguments
        .get("options")
        .setValue("-Xmx128m -cp \"" + System.getProperty("java.class.path") + "\"");
    arguments
        .get("main")
        .setValue(Program.class.getName() + " \"" + directory.resolve("store") + "\"");
    VirtualMachine machine = connector.launch(arguments);
    try {
      return new Watch(machine).watch();
    } finally {
      machine.process().destroyForcibly();
    }
  }

  /** Listens to the program. */
  private static final class Watch {
    private final VirtualMachine machine;
    private final Map<String, Set<String>> paths = new LinkedHashMap<>();
    private MethodEntryRequest entries;
    private String call = "";
    private Set<String> entered = new TreeSet<>();

    Watch(VirtualMachine machine) {
      this.machine = machine;
      ClassPrepareRequest loaded = machine.eventRequestManager().createClassPrepareRequest();
      loaded.addClassFilter(Program.class.getName());
      loaded.enable();
    }

    /** Stops where the program's marks begin: entries of methods are slow to watch. */
    private void stopAtMarks(ReferenceType program) {
      for (String mark : List.of("begin", "end")) {
        Location start = program.methodsByName(mark).get(0).location();
        BreakpointRequest stop = machine.eventRequestManager().createBreakpointRequest(start);
        stop.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        stop.enable();
      }
    }

    Map<String, Set<String>> watch() throws Exception {
      while (true) {
        EventSet events = machine.eventQueue().remove();
        for (Event event : events) {
          if (event instanceof VMDisconnectEvent) {
            return paths;
          }
          if (event instanceof ClassPrepareEvent loaded) {
            stopAtMarks(loaded.referenceType());
          } else if (event instanceof BreakpointEvent stop) {
            stopAt(stop);
          } else if (event instanceof MethodEntryEvent entry) {
            enter(entry.location().declaringType().name());
          }
        }
        events.resume();
      }
    }

    private void stopAt(BreakpointEvent stop) throws IncompatibleThreadStateException {
      if (stop.location().method().name().equals("begin")) {
        StackFrame frame = stop.thread().frame(0);
        call = ((StringReference) frame.getArgumentValues().get(0)).value();
        entered = new TreeSet<>();
        entries = machine.eventRequestManager().createMethodEntryRequest();
        entries.addThreadFilter(stop.thread());
        entries.addClassFilter("io.isobardb.*");
        entries.addClassExclusionFilter(CallPathsTest.class.getName() + "*");
        entries.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        entries.enable();
      } else {
        machine.eventRequestManager().deleteEventRequest(entries);
        Set<String> before = paths.putIfAbsent(call, entered);
        if (before != null) {
          before.retainAll(entered);
        }
      }
    }

    private void enter(String type) {
      String top = type.contains("$") ? type.substring(0, type.indexOf('$')) : type;
      // What is defined at run time is in no file.
      if (!top.contains("/")) {
        entered.add(top.substring(top.lastIndexOf('.') + 1));
      }
    }
  }
}
