package io.isobardb.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
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
}
