package io.isobardb.lsm;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.state.Run;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final String BASE = "io.isobardb.lsm";

  /** The package of the public API itself. */
  private static final String API = "";

  /** The one class of the engine that the public API knows. */
  private static final String OPENING = BASE + ".store.Opening";

  /** Lowest first; each may use those before it. Why it stands above its neighbour, beside it. */
  private static final List<Map.Entry<String, String>> ORDER =
      List.of(
          Map.entry("error", "what went wrong is told without knowing where"),
          Map.entry("option", "what users choose among has no code of the engine to show"),
          Map.entry("policy", "what experiments choose among has no code of the engine to show"),
          Map.entry("setting", "an option is data; what it means is known elsewhere"),
          Map.entry("observe", "what is told does not depend on who tells it"),
          Map.entry(API, "what users see has no code of the engine, but for who opens it"),
          Map.entry("experiment", "what is there to compare with is set and read by its name"),
          Map.entry("event", "all others report to it; it knows none of them"),
          Map.entry("expiry", "when something expires is a number, whatever has it"),
          Map.entry("range", "a range delete covers keys, and knows no entries"),
          Map.entry("entry", "an entry is the same in a log, a page and a cursor"),
          Map.entry("operand", "operands are values of entries, wherever these lie"),
          Map.entry("io", "files and the clock know neither threads nor formats"),
          Map.entry("schedule", "threads run jobs and don't know what they do"),
          Map.entry("wal", "the log carries payloads that it can't read"),
          Map.entry("sstable", "an SSTable knows its pages, not its place among others"),
          Map.entry("component", "what takes writes may know the SSTable it becomes"),
          Map.entry("version", "what the manifest says holds without a store in memory"),
          Map.entry("state", "a tree's state is memory and version together"),
          Map.entry("commit", "writing changes states; states don't know who writes"),
          Map.entry("baseline", "what is there to compare with does its work, and decides nothing"),
          Map.entry("merge", "a merge is asked for, and asks for nothing but a state"),
          Map.entry("flush", "a flush wakes merges, never the other way round"),
          Map.entry("read", "reading looks at states and changes none"),
          Map.entry("transaction", "a transaction reads, and decides whether it may write"),
          Map.entry("tuning", "who divides the memory may ask for flushes, and nobody asks him"),
          Map.entry("recovery", "opening puts all parts together"),
          Map.entry("store", "what users hold is all of it, and nobody below knows it"));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(BASE);

  private static void check(ArchRule rule, String reason) {
    rule.because(reason).check(CLASSES);
  }

  private static String packageOf(Map.Entry<String, String> entry) {
    return entry.getKey().equals(API) ? BASE : BASE + "." + entry.getKey();
  }

  @Test
  void importsRunOneWay() {
    for (int i = 0; i < ORDER.size(); i++) {
      String[] above =
          ORDER.stream().skip(i + 1).map(ArchitectureTest::packageOf).toArray(String[]::new);
      String one = packageOf(ORDER.get(i));
      check(
          noClasses()
              .that()
              .resideInAPackage(one)
              .should()
              .dependOnClassesThat(
                  resideInAnyPackage(above)
                      .and(
                          describe(
                              "are not who opens stores",
                              type -> !one.equals(BASE) || !type.getName().equals(OPENING)))),
          ORDER.get(i).getValue());
    }
  }

  /** Participles that do not end as others do. */
  private static final Set<String> IRREGULAR =
      Set.of("begun", "done", "left", "lost", "written", "swept", "taken", "told", "given");

  /** A command is a verb, and an event begins with {@code on}. */
  @Test
  void noCommandIsNamedAsWhatHasHappened() {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      type.getMethods().stream()
          .filter(method -> method.getRawReturnType().isEquivalentTo(void.class))
          .map(JavaMember::getName)
          .filter(name -> IRREGULAR.contains(name) || name.matches("(?!need|seed|feed)[a-z]+ed"))
          .forEach(name -> found.add(type.getSimpleName() + "." + name));
    }
    assertEquals(Set.of(), found);
  }

  @Test
  void everyPackageHasItsPlaceInTheOrder() {
    Set<String> known = new TreeSet<>();
    ORDER.forEach(entry -> known.add(packageOf(entry)));
    Set<String> found = new TreeSet<>();
    CLASSES.forEach(type -> found.add(type.getPackageName()));
    assertEquals(known, found, "ORDER and ARCHITECTURE.md name all packages");
  }

  /** What module lsm-repair reads damaged files with, for nobody else to use. */
  private static final Set<String> FORMATS =
      Set.of(
          "sstable.PageFile",
          "version.ManifestLayout",
          "version.ManifestReader",
          "wal.SegmentLayout");

  @Test
  void formatsAreKnownToTheirPackages() {
    for (String format : FORMATS) {
      String type = BASE + "." + format;
      check(
          noClasses()
              .that()
              .resideOutsideOfPackage(type.substring(0, type.lastIndexOf('.')))
              .should()
              .dependOnClassesThat()
              .haveFullyQualifiedName(type),
          "it is public for module lsm-repair, which the engine does not know");
      assertTrue(CLASSES.contain(type), type);
    }
  }

  /** What users may name, and all that this is made of, is what a running store needs. */
  @Test
  void noClassIsUsedByToolsAlone() {
    Set<String> api = Set.of(BASE, BASE + ".error", BASE + ".observe", BASE + ".option");
    Set<JavaClass> needed = new HashSet<>();
    Deque<JavaClass> todo = new ArrayDeque<>();
    CLASSES.stream().filter(type -> api.contains(type.getPackageName())).forEach(todo::add);
    while (!todo.isEmpty()) {
      JavaClass type = todo.remove();
      if (CLASSES.contain(type.getName()) && needed.add(type)) {
        type.getDirectDependenciesFromSelf().stream()
            .map(use -> use.getTargetClass().getBaseComponentType())
            .forEach(todo::add);
      }
    }
    Set<String> others = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      boolean inside = type.getEnclosingClass().isPresent();
      if (!inside && !type.getSimpleName().equals("package-info") && !needed.contains(type)) {
        others.add(type.getName().substring(BASE.length() + 1));
      }
    }
    assertEquals(Set.of(), others);
  }

  @Test
  void baselinesAreKnownToWhatMakesThemAlone() {
    Set<String> makers =
        Set.of("MemoryMerger", "MemoryMergeView", "StoreParts", "PartOptions", "package-info");
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".baseline")
            .and(describe("make none", type -> !makers.contains(top(type))))
            .should()
            .dependOnClassesThat()
            .resideInAPackage(BASE + ".baseline"),
        "what is there to compare with costs a store nothing that does not ask for it");
  }

  @Test
  void thePublicApiKnowsOneClassOfTheEngine() {
    check(
        noClasses()
            .that()
            .resideInAPackage(BASE)
            .should()
            .dependOnClassesThat(
                resideInAPackage("io.isobardb..")
                    .and(
                        resideOutsideOfPackages(
                            BASE,
                            BASE + ".error",
                            BASE + ".option",
                            BASE + ".inspect",
                            BASE + ".observe",
                            BASE + ".policy",
                            BASE + ".setting",
                            "io.isobardb.memory.stats",
                            "io.isobardb.tuner.memory"))
                    .and(describe("don't open stores", type -> !type.getName().equals(OPENING)))),
        "an application can stand behind it itself");
  }

  /** The types of the public API that the engine stands behind, each with one class. */
  @Test
  void eachInterfaceOfTheApiHasOneImplementation() {
    Set<String> callbacks =
        Set.of("EntryReader", "MergeFilter", "TransactionBody", "TransactionTask", "ValueReader");
    Map<String, List<String>> wrong = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      if (type.getPackageName().equals(BASE)
          && type.isInterface()
          && !type.getSimpleName().equals("package-info")
          && !callbacks.contains(type.getSimpleName())) {
        List<String> classes =
            type.getAllSubclasses().stream().map(JavaClass::getSimpleName).sorted().toList();
        if (classes.size() != 1) {
          wrong.put(type.getSimpleName(), classes);
        }
      }
    }
    assertEquals(Map.of(), wrong);
  }

  @Test
  void theCoreKnowsNothingOfWhatIsBuiltOnIt() {
    check(
        noClasses()
            .should()
            .dependOnClassesThat(
                resideInAPackage("io.isobardb..")
                    .and(
                        resideOutsideOfPackages(
                            BASE + "..", "io.isobardb.memory..", "io.isobardb.tuner.."))),
        "all else is built on lsm-core, which knows none of it");
  }

  @Test
  void onlyTheIoPackageTouchesFiles() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".io")
            .should()
            .dependOnClassesThat(
                describe(
                    "are files or channels",
                    type ->
                        type.getName()
                            .matches(
                                "java\\.io\\.(File.*|RandomAccessFile)"
                                    + "|java\\.nio\\.channels\\..*"
                                    + "|java\\.nio\\.file\\.(Files|FileSystems?|attribute\\..*"
                                    + "|StandardOpenOption|OpenOption)"))),
        "crash, fault and full-disk tests see only what goes through Storage");
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(BASE + ".io", BASE, BASE + ".store")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.nio.file.Path"),
        "below what users hold a store is a Storage, which may be simulated");
  }

  @Test
  void onlyTheSeamsReadClocks() {
    check(
        noClasses()
            .that(
                describe(
                    "are no seam for time",
                    type -> !Set.of("Clock", "ThreadSignal", "ServiceThread").contains(top(type))))
            .should()
            .callCodeUnitWhere(
                calls(
                    "of clocks",
                    target ->
                        target.getOwner().isEquivalentTo(System.class)
                                && target.getName().matches("nanoTime|currentTimeMillis")
                            || target.getOwner().getName().startsWith("java.time.")
                                && target.getName().equals("now"))),
        "a seed replays a run only if time comes from Clock; the scheduler's own threads wait by"
            + " the JVM's clock");
  }

  private static String top(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::top).orElse(type.getSimpleName());
  }

  private static DescribedPredicate<JavaCall<?>> calls(
      String what, Predicate<CodeUnitCallTarget> targets) {
    return describe(what, call -> targets.test(call.getTarget()));
  }

  @Test
  void oneClassGoesThroughRunsForAKey() {
    check(
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName(BASE + ".read.Lookup")
            .and()
            .doNotHaveFullyQualifiedName(BASE + ".commit.OperandReader")
            .should()
            .callMethod(Run.class, "find", byte[].class),
        "newest first, until the answer is known: that is said once, and once for all versions that"
            + " make up a value");
    check(
        noClasses()
            .that(
                describe("search no run", type -> !Set.of("Run", "RunCursor").contains(top(type))))
            .should()
            .callMethod(Run.class, "firstNotBefore", byte[].class, int.class, int.class),
        "whoever looks for a key asks Lookup; a cursor is placed");
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(BASE + ".read", BASE + ".component")
            .and()
            .doNotHaveFullyQualifiedName(BASE + ".commit.OperandReader")
            .should()
            .callCodeUnitWhere(
                calls(
                    "of lookups in write memory",
                    target ->
                        target.getOwner().isAssignableTo(WrittenEntries.class)
                            && target.getName().matches("find|newestLsn"))),
        "a component alone does not know the answer");
  }

  @Test
  void nobodySleepsAndOnlyTheScheduleParksOrMakesThreads() {
    check(
        noClasses()
            .should()
            .callCodeUnitWhere(
                calls(
                    "of sleep",
                    target ->
                        target.getName().equals("sleep") && isOf(target, "java.lang.Thread"))),
        "a wait is on a condition with a name");
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".schedule")
            .should()
            .callCodeUnitWhere(
                calls(
                    "that make threads or park them",
                    target ->
                        isOf(target, "java.util.concurrent.locks.LockSupport")
                            || target.getName().matches("<init>|start")
                                && isOf(target, "java.lang.Thread"))),
        "simulated, the whole engine runs on one thread");
  }

  private static boolean isOf(CodeUnitCallTarget target, String owner) {
    return target.getOwner().getName().equals(owner);
  }

  @Test
  void randomnessComesFromTheEnvironment() {
    check(
        noClasses()
            .should()
            .dependOnClassesThat()
            .haveNameMatching(
                "java\\.util\\.Random|java\\.util\\.concurrent\\.ThreadLocalRandom"
                    + "|java\\.security\\.SecureRandom"),
        "what is random must be replayable by its seed");
    check(
        noClasses()
            .should()
            .callCodeUnitWhere(
                calls(
                    "of Math.random and UUID.randomUUID",
                    target ->
                        isOf(target, "java.lang.Math") && target.getName().equals("random")
                            || target.getName().equals("randomUUID"))),
        "what is random must be replayable by its seed");
    check(
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName(OPENING)
            .should()
            .callCodeUnitWhere(
                calls(
                    "of SplittableRandom without a seed",
                    target ->
                        target.getName().equals("<init>")
                            && isOf(target, "java.util.SplittableRandom")
                            && target.getRawParameterTypes().isEmpty())),
        "a seed that nobody knows is made once, where a real store is opened");
  }

  @Test
  void nobodyUsesUnsafeOrWhatTheJdkHides() {
    check(
        noClasses()
            .should()
            .dependOnClassesThat()
            .haveNameMatching("sun\\..*|jdk\\.internal\\..*|com\\.sun\\.(?!management\\.).*"),
        "no flag and no warning on any JDK; com.sun.management is an exported API");
  }

  /** Manifests are small and built on the heap, with a byte array behind the buffer. */
  @Test
  void onlyTheMemoryClassReadsAndWritesNumbersOffTheHeap() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".version")
            .should()
            .callCodeUnitWhere(
                calls(
                    "of a ByteBuffer's typed accessors",
                    target ->
                        target.getOwner().isAssignableTo(ByteBuffer.class)
                            && target
                                .getName()
                                .matches("(get|put)(Char|Short|Int|Long|Float|Double)"))),
        "race detectors and a checked variant must see every access");
    check(
        noClasses()
            .that(
                describe(
                    "don't need just a few bytes",
                    type ->
                        !Set.of("PageBuilder", "SSTableWriter", "DirectIo").contains(top(type))))
            .should()
            .callCodeUnitWhere(
                calls("of allocateDirect", target -> target.getName().equals("allocateDirect"))),
        "memory is reserved from the pool's budget before it is allocated");
  }

  @Test
  void whatIsLoggedFailsNobody() {
    check(
        noClasses()
            .that(
                describe(
                    "run after the store has begun",
                    type -> !Set.of("SystemLog", "StoreOptions").contains(top(type))))
            .should()
            .callCodeUnitWhere(
                calls("of System.getLogger", target -> target.getName().equals("getLogger"))),
        "a handler of the log may throw, and the heap may be full: SystemLog lets nothing pass");
  }

  @Test
  void loggingIsTheOnlyOutput() {
    check(
        noClasses()
            .should()
            .accessFieldWhere(
                describe(
                    "of System.out and System.err",
                    (JavaAccess<?> access) ->
                        access.getTargetOwner().isEquivalentTo(System.class)
                            && access.getTarget().getName().matches("out|err"))),
        "a library's words go where the program says");
  }

  /** Where it is decided what is done, of what, and how much. */
  private static final Set<String> DECISIONS =
      Set.of(
          "baseline.StaticShares",
          "commit.Backpressure",
          "commit.Fullness",
          "commit.Sealing",
          "component.MemoryRules",
          "entry.StayingVersions",
          "flush.FlushExtent",
          "flush.FlushRules",
          "flush.TreeChoice",
          "merge.LevelTargets",
          "merge.MemoryMerging",
          "merge.TableSizes",
          "operand.FoldRules",
          "tuning.CycleRules",
          "tuning.WallRules");

  private static boolean decides(JavaClass type) {
    return type.getEnclosingClass()
        .map(ArchitectureTest::decides)
        .orElse(
            DECISIONS.contains(type.getName().substring(BASE.length() + 1))
                || type.isAssignableTo(BASE + ".merge.MergePolicy"));
  }

  @Test
  void decisionsLookAtNumbersAndNotAtWhatRuns() {
    check(
        noClasses()
            .that(describe("decide", ArchitectureTest::decides))
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                        BASE + ".state",
                        BASE + ".schedule",
                        BASE + ".wal",
                        "java.util.concurrent..")
                    .or(
                        describe(
                            "carry out",
                            type ->
                                type.getName()
                                    .matches(".*\\.(Engine|WriteGate|Flusher|Merger|PagePool)")))),
        "a choice can be read in a golden file, and replayed");
    Set<String> found = new TreeSet<>();
    CLASSES.forEach(type -> found.add(type.getName().replace(BASE + ".", "")));
    assertTrue(found.containsAll(DECISIONS), DECISIONS::toString);
  }

  /** The classes that call a method. Fails if there is no such method, or nobody calls it. */
  private static Set<String> callersOf(String type, String method) {
    Set<String> callers = new TreeSet<>();
    for (JavaMethod each : CLASSES.get(BASE + "." + type).getMethods()) {
      if (each.getName().equals(method)) {
        each.getAccessesToSelf()
            .forEach(call -> callers.add(call.getOriginOwner().getName().replace(BASE + ".", "")));
      }
    }
    assertFalse(callers.isEmpty(), type + "." + method);
    return callers;
  }

  @Test
  void onlyTheSealerSeals() {
    assertEquals(
        Set.of("commit.Sealer"),
        callersOf("state.ActiveSeals", "begin"),
        "who seals has to know what a replay does meanwhile");
  }

  @Test
  void theCatalogWritesToTheManifest() {
    assertEquals(
        Set.of("recovery.Bootstrap", "recovery.Recovery", "state.Catalog"),
        callersOf("version.Manifest", "append"),
        "files and their directory are synced before an edit, and the state is swapped after it;"
            + " before there is a catalog, an opening notes what the store is");
    assertEquals(
        Set.of("state.Catalog"),
        callersOf("version.Manifest", "appendUnsynced"),
        "the catalog syncs before the log is synced");
  }

  /**
   * Where keys and pages are compared and copied: what these pass on would be an object for each
   * step of a search.
   */
  private static final Set<String> HOT_LEAVES =
      Set.of(
          "component.ActiveNodes",
          "sstable.PageBuilder",
          "sstable.PageReader",
          "sstable.SSTableWriter");

  @Test
  void callsHaveSixParametersAtMost() {
    List<String> longer = new ArrayList<>();
    for (JavaClass type : CLASSES) {
      String name = type.getName().substring(BASE.length() + 1);
      for (JavaCodeUnit unit : type.getCodeUnits()) {
        // What a record consists of is listed once, and lambdas are called by no name.
        boolean listed = type.isRecord() && unit.isConstructor() || unit.getName().contains("$");
        if (unit.getRawParameterTypes().size() > 6 && !listed && !HOT_LEAVES.contains(name)) {
          longer.add(unit.getFullName());
        }
      }
    }
    assertEquals(List.of(), longer);
  }
}
