package io.isobardb.tuner;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.isobardb.tuner");

  @Test
  void theTunerKnowsNumbersOnly() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideOutsideOfPackages(
            "io.isobardb.tuner..", "java.lang..", "java.util..", "org.jspecify..")
        .because("lsm-tuner decides on numbers: no files, no engine")
        .check(CLASSES);
  }

  @Test
  void theSameStatisticsGiveTheSameDecisions() {
    noClasses()
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(Random.class, SplittableRandom.class, Thread.class)
        .because("decisions are replayed from recorded statistics")
        .check(CLASSES);
  }
}
