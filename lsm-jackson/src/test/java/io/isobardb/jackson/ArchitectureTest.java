package io.isobardb.jackson;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  @Test
  void itIsACodecAndKnowsNoStore() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "io.isobardb.jackson",
            "io.isobardb.lsm.typed",
            "com.fasterxml.jackson..",
            "org.jspecify.annotations",
            "java..")
        .because("whatever takes a codec takes this one")
        .check(
            new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.isobardb.jackson"));
  }
}
