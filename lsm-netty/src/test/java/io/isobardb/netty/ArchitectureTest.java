package io.isobardb.netty;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  @Test
  void itIsBuiltOnThePublicApiAlone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "io.isobardb.netty",
            "io.isobardb.lsm",
            "io.netty.buffer",
            "io.netty.util",
            "org.jspecify.annotations",
            "java..")
        .because("a bridge needs no more than any program")
        .check(
            new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.isobardb.netty"));
  }
}
