package io.isobardb.kafka;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final JavaClasses MODULE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.isobardb.kafka");

  @Test
  void itIsBuiltOnThePublicApiAlone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "io.isobardb.kafka",
            "io.isobardb.lsm",
            "io.isobardb.lsm.error",
            "io.isobardb.lsm.observe",
            "io.isobardb.memory.stats",
            "org.apache.kafka..",
            "org.jspecify.annotations",
            "org.slf4j",
            "java..")
        .because("a bridge needs no more than any program")
        .check(MODULE);
  }

  @Test
  void oneClassKnowsInternalsOfKafka() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(KafkaInternals.class.getName())
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.kafka..internals..")
        .because("they change without notice, and all but versioned stores works without them")
        .check(MODULE);
  }
}
