package io.isobardb.zstd;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  @Test
  void itIsBuiltOnTheCodecsInterfaceAlone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "io.isobardb.zstd",
            "io.isobardb.lsm.option",
            "com.github.luben.zstd..",
            "org.jspecify.annotations",
            "java..")
        .because("any library can bring a codec")
        .check(
            new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.isobardb.zstd"));
  }
}
