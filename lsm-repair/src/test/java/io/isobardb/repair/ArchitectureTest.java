package io.isobardb.repair;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.isobardb.lsm.api.Signatures;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final String STORE = "io.isobardb.lsm";
  private static final String REPAIR = "io.isobardb.repair";
  private static final String INSPECT = STORE + ".inspect";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(REPAIR, INSPECT);

  @Test
  void importsRunOneWay() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("values")
        .definedBy(INSPECT)
        .layer("format")
        .definedBy(REPAIR + ".format")
        .layer("check")
        .definedBy(REPAIR + ".check")
        .layer("salvage")
        .definedBy(REPAIR + ".salvage")
        .layer("API")
        .definedBy(REPAIR)
        .whereLayer("API")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("salvage")
        .mayOnlyBeAccessedByLayers("API")
        .whereLayer("format")
        .mayOnlyBeAccessedByLayers("check", "salvage")
        .whereLayer("check")
        .mayOnlyBeAccessedByLayers("API")
        .because("what is found is told without knowing how; a repair believes no check")
        .check(CLASSES);
  }

  @Test
  void filesTimeThreadsAndChanceGoThroughTheirSeams() {
    noClasses()
        .that()
        .resideOutsideOfPackage(REPAIR)
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.io\\.(File.*|RandomAccessFile)|java\\.nio\\.(channels|file)\\..*"
                + "|java\\.util\\.concurrent\\..*|java\\.util\\.(Random|SplittableRandom)"
                + "|java\\.time\\.Clock|java\\.lang\\.Thread")
        .because("crash, fault and damage tests see only what goes through Storage")
        .check(CLASSES);
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveNameMatching("java\\.nio\\.file\\.(Files|FileSystems?)")
        .because("files are opened in lsm.io")
        .check(CLASSES);
    noClasses()
        .should()
        .callMethodWhere(
            describe(
                "a clock or a source of chance is asked",
                call ->
                    call.getTarget()
                        .getName()
                        .matches("nanoTime|currentTimeMillis|now|random|randomUUID")))
        .because("a seed replays a run")
        .check(CLASSES);
    noClasses()
        .should()
        .accessFieldWhere(
            describe(
                "of System.out and System.err",
                access ->
                    access.getTargetOwner().isEquivalentTo(System.class)
                        && access.getTarget().getName().matches("out|err")))
        .because("a library's words go where the program says")
        .check(CLASSES);
  }

  @Test
  void noSignatureNamesATypeThatUsersCantImport() {
    Set<String> exported =
        Set.of(REPAIR, INSPECT, STORE, STORE + ".error", STORE + ".observe", STORE + ".option");
    assertEquals(List.of(), new Signatures(exported).leaks(CLASSES));
  }

  @Test
  void theModuleExportsItsApiAndBringsTheStore() throws Exception {
    Path classes =
        Path.of(StoreRepair.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ModuleDescriptor module = ModuleFinder.of(classes).findAll().iterator().next().descriptor();
    Set<String> exports = new TreeSet<>();
    module.exports().forEach(export -> exports.add(export.toString()));
    assertEquals(Set.of(REPAIR, INSPECT), exports);
    assertEquals(Set.of(), module.opens());
    List<String> required =
        module.requires().stream()
            .filter(
                other -> other.modifiers().contains(ModuleDescriptor.Requires.Modifier.TRANSITIVE))
            .map(ModuleDescriptor.Requires::name)
            .toList();
    assertEquals(List.of(STORE), required);
  }
}
