package io.isobardb.lsm.api;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import io.isobardb.lsm.store.Opening;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What users see of the engine. */
class ApiTest {
  private static final String BASE = "io.isobardb.lsm";

  /** The packages that users may import. */
  static final Set<String> EXPORTED =
      Set.of(BASE, BASE + ".error", BASE + ".observe", BASE + ".option");

  /** The packages of the modules below that users may import. */
  static final Set<String> EXPORTED_BELOW = Set.of("io.isobardb.memory.stats");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.isobardb.lsm", "io.isobardb.memory");

  private static final Signatures SIGNATURES =
      new Signatures(
          Stream.of(EXPORTED, EXPORTED_BELOW).flatMap(Set::stream).collect(Collectors.toSet()));

  @Test
  void noSignatureNamesATypeThatUsersCantImport() {
    assertEquals(List.of(), SIGNATURES.leaks(CLASSES));
  }

  @Test
  void everyExportedPackageHasAPublicType() {
    Set<String> found = new TreeSet<>();
    CLASSES.stream().filter(SIGNATURES::isSeen).forEach(type -> found.add(type.getPackageName()));
    Set<String> known = new TreeSet<>(EXPORTED);
    known.addAll(EXPORTED_BELOW);
    assertEquals(known, found);
  }

  /**
   * What the classes of the package are about, lowest first: each group may use those before it.
   */
  private static final List<Set<String>> GROUPS =
      List.of(
          Set.of(
              "Compression",
              "CompressionKind",
              "Durability",
              "IoBudget",
              "Isolation",
              "Locking",
              "MemoryTunerOptions",
              "RecordingOptions",
              "StoreOption",
              "StoreOptions",
              "TransactionOptions",
              "TreeOption",
              "TreeOptions"),
          Set.of(
              "Cursor",
              "CursorOptions",
              "EntryReader",
              "Keys",
              "Snapshot",
              "Targets",
              "ValueReader"),
          Set.of("MergeFilter", "RecordFilter", "Tree", "TreeReads", "WriteBatch"),
          Set.of(
              "Backup",
              "Backups",
              "BulkLoad",
              "Recording",
              "Savepoint",
              "Store",
              "Transaction",
              "TransactionBody",
              "TransactionTask"));

  private static int group(JavaClass type) {
    JavaClass top = type;
    while (top.getEnclosingClass().isPresent()) {
      top = top.getEnclosingClass().get();
    }
    String name = top.getSimpleName();
    for (int i = 0; i < GROUPS.size(); i++) {
      if (GROUPS.get(i).contains(name)) {
        return i;
      }
    }
    throw new AssertionError(name + " belongs to no group of package " + BASE);
  }

  @Test
  void groupsOfClassesKnowEachOtherOneWay() {
    List<String> upwards = new ArrayList<>();
    for (JavaClass type : CLASSES) {
      if (type.getPackageName().equals(BASE) && !type.getSimpleName().equals("package-info")) {
        type.getDirectDependenciesFromSelf().stream()
            .filter(use -> use.getTargetClass().getPackageName().equals(BASE))
            .filter(use -> group(use.getTargetClass().getBaseComponentType()) > group(type))
            .forEach(use -> upwards.add(use.getDescription()));
      }
    }
    assertEquals(List.of(), upwards);
  }

  @Test
  void packagesFormNoCircle() {
    SlicesRuleDefinition.slices()
        .matching("io.isobardb.(**)")
        .should()
        .beFreeOfCycles()
        // Whoever asks for a store gets one: what the API is, the engine implements.
        .ignoreDependency(resideInAPackage("io.isobardb.lsm"), equivalentTo(Opening.class))
        .check(CLASSES);
  }
}
