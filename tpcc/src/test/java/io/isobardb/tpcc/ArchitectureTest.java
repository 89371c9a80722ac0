package io.isobardb.tpcc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.isobardb.tpcc");

  @Test
  void importsRunOneWay() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("schema")
        .definedBy("..tpcc.schema")
        .layer("store")
        .definedBy("..tpcc.store")
        .layer("load")
        .definedBy("..tpcc.load")
        .layer("work")
        .definedBy("..tpcc.work")
        .layer("check")
        .definedBy("..tpcc.check")
        .layer("drive")
        .definedBy("..tpcc.drive")
        .layer("kill")
        .definedBy("..tpcc.kill")
        .whereLayer("kill")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("check")
        .mayOnlyBeAccessedByLayers("kill")
        .whereLayer("load")
        .mayOnlyBeAccessedByLayers("kill")
        .whereLayer("drive")
        .mayOnlyBeAccessedByLayers("kill")
        .whereLayer("work")
        .mayOnlyBeAccessedByLayers("drive", "kill")
        .whereLayer("store")
        .mayOnlyBeAccessedByLayers("load", "work", "check", "drive", "kill")
        .because("the load is read from the bytes up: rows, engines, transactions, terminals")
        .check(CLASSES);
  }

  @Test
  void enginesAreKnownInOnePlace() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..tpcc.store")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.isobardb.lsm..", "org.rocksdb..")
        .because("the same load runs on every engine")
        .check(CLASSES);
  }

  @Test
  void clocksAndChancesHaveASeam() {
    noClasses()
        .that()
        .haveNameNotMatching(".*DriverClock.*")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(Random.class)
        .because("a seed replays all choices")
        .check(CLASSES);
  }
}
