package io.isobardb.lsm.dataset;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.isobardb.lsm.api.Signatures;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final String STORE = "io.isobardb.lsm";
  private static final String DATASET = STORE + ".dataset";
  private static final String TYPED = STORE + ".typed";
  private static final String RECIPE = STORE + ".recipe";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(DATASET, TYPED, RECIPE);

  @Test
  void datasetsAreBuiltOnThePublicApiAlone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            DATASET,
            TYPED,
            RECIPE,
            STORE,
            STORE + ".error",
            STORE + ".option",
            "org.jspecify.annotations",
            "java.lang..",
            "java.nio",
            "java.nio.charset",
            "java.time..",
            "java.util..")
        .because("what they need of a store is what every user may have; files are the store's")
        .check(CLASSES);
  }

  @Test
  void datasetsKnowNoTypes() {
    noClasses()
        .that()
        .resideInAPackage(DATASET)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(TYPED)
        .because("types are given to what works without them")
        .check(CLASSES);
  }

  @Test
  void recipesAreWhatAnyProgramCouldHave() throws IOException {
    noClasses()
        .that()
        .resideOutsideOfPackage(RECIPE)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(RECIPE)
        .because("they are examples of use")
        .check(CLASSES);
    Path sources = Path.of("src", "main", "java", "io", "isobardb", "lsm", "recipe");
    try (Stream<Path> files = Files.list(sources)) {
      for (Path file : files.toList()) {
        long lines =
            Files.readAllLines(file).stream()
                .filter(line -> !line.matches("\\s*((\\*|/\\*|//).*)?"))
                .count();
        assertTrue(lines < 130, file + " is to be read at one go, and has " + lines + " of code");
      }
    }
  }

  @Test
  void timeThreadsAndChanceAreTheStores() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.util\\.concurrent\\.(locks\\..*|.*Executor.*|ThreadLocalRandom)"
                + "|java\\.util\\.(Random|SplittableRandom)|java\\.time\\.Clock")
        .because("a simulated store simulates its datasets")
        .check(CLASSES);
    noClasses()
        .should()
        .callMethodWhere(
            describe(
                "a clock or a source of chance is asked, or a thread is made or waits",
                call ->
                    call.getTarget()
                            .getName()
                            .matches("nanoTime|currentTimeMillis|now|random|randomUUID")
                        || call.getTargetOwner().isEquivalentTo(Thread.class)
                            && call.getTarget().getName().matches("start|sleep")))
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
  void callsHaveSixParametersAtMost() {
    List<String> longer = new ArrayList<>();
    for (JavaClass type : CLASSES) {
      for (JavaCodeUnit unit : type.getCodeUnits()) {
        boolean listed = type.isRecord() && unit.isConstructor() || unit.getName().contains("$");
        if (unit.getRawParameterTypes().size() > 6 && !listed) {
          longer.add(unit.getFullName());
        }
      }
    }
    assertEquals(List.of(), longer);
  }

  @Test
  void noSignatureNamesATypeThatUsersCantImport() {
    Set<String> exported =
        Set.of(
            DATASET, TYPED, RECIPE, STORE, STORE + ".error", STORE + ".observe", STORE + ".option");
    assertEquals(List.of(), new Signatures(exported).leaks(CLASSES));
  }

  @Test
  void theModuleExportsItsPackagesAndBringsTheStore() throws Exception {
    Path classes =
        Path.of(Dataset.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ModuleDescriptor module = ModuleFinder.of(classes).findAll().iterator().next().descriptor();
    assertEquals(Set.of(DATASET, TYPED, RECIPE), module.packages());
    Set<String> exports = new TreeSet<>();
    module.exports().forEach(export -> exports.add(export.toString()));
    assertEquals(Set.of(DATASET, TYPED, RECIPE), exports);
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
