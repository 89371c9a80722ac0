package io.isobardb.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.isobardb.cli");

  @Test
  void importsRunOneWay() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("console")
        .definedBy("io.isobardb.cli.console")
        .layer("report")
        .definedBy("io.isobardb.cli.report")
        .layer("inspect")
        .definedBy("io.isobardb.cli.inspect")
        .layer("program")
        .definedBy("io.isobardb.cli")
        .whereLayer("program")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("report")
        .mayOnlyBeAccessedByLayers("inspect")
        .whereLayer("inspect")
        .mayOnlyBeAccessedByLayers("program")
        .because("commands know how to print, and the program knows its commands")
        .check(CLASSES);
  }

  @Test
  void theConsoleAndReportsKnowOfTheEngineItsErrorsAlone() {
    noClasses()
        .that()
        .resideInAnyPackage("io.isobardb.cli.console", "io.isobardb.cli.report")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.isobardb.memory..", "io.isobardb.tuner..", "io.isobardb.lsm")
        .because("programs without a store print as these commands do")
        .check(CLASSES);
  }

  /** Models and the like that only measurements use are in {@code lsm-bench}. */
  @Test
  void noClassOfTheTunerIsForMeasurementsAlone() {
    // Without what the JDK has, this takes a part of the time.
    JavaClasses all =
        ArchConfiguration.withThreadLocalScope(
            configuration -> {
              configuration.setResolveMissingDependenciesFromClassPath(false);
              return new ClassFileImporter()
                  .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                  .importPackages("io.isobardb.lsm", "io.isobardb.tuner", "io.isobardb.cli");
            });
    Set<JavaClass> needed = new HashSet<>();
    Deque<JavaClass> todo = new ArrayDeque<>();
    all.stream().filter(type -> !isOfTheTuner(type)).forEach(todo::add);
    while (!todo.isEmpty()) {
      JavaClass type = todo.remove();
      if (all.contain(type.getName()) && needed.add(type)) {
        type.getDirectDependenciesFromSelf().stream()
            .map(use -> use.getTargetClass().getBaseComponentType())
            .forEach(todo::add);
      }
    }
    Set<String> others = new TreeSet<>();
    for (JavaClass type : all) {
      boolean inside = type.getEnclosingClass().isPresent();
      if (!inside && !type.getSimpleName().equals("package-info") && !needed.contains(type)) {
        others.add(type.getName());
      }
    }
    assertEquals(Set.of(), others);
  }

  private static boolean isOfTheTuner(JavaClass type) {
    return type.getPackageName().startsWith("io.isobardb.tuner");
  }
}
