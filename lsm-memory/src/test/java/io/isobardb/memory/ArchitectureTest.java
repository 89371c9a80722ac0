package io.isobardb.memory;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.MethodCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ArchitectureTest {
  private static final String BASE = "io.isobardb.memory";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(BASE);

  private static void check(ArchRule rule, String reason) {
    rule.because(reason).check(CLASSES);
  }

  private static DescribedPredicate<JavaMethodCall> calls(
      String what, Predicate<MethodCallTarget> targets) {
    return DescribedPredicate.describe(what, call -> targets.test(call.getTarget()));
  }

  @Test
  void importsRunFromCacheToPoolToSystemToPage() {
    check(
        noClasses()
            .that()
            .resideInAPackage(BASE + ".page")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(BASE + ".system", BASE + ".pool", BASE + ".cache"),
        "a page knows neither who owns it nor what it is for");
    check(
        noClasses()
            .that()
            .resideInAPackage(BASE + ".system")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(BASE + ".pool", BASE + ".cache"),
        "the system knows nothing of budgets");
    check(
        noClasses()
            .that()
            .resideInAPackage(BASE + ".pool")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(BASE + ".cache"),
        "the pool asks for pages through its Reclaimer");
    check(
        noClasses()
            .should()
            .dependOnClassesThat(
                resideInAPackage("io.isobardb..").and(resideInAPackage(BASE + "..").negate())),
        "lsm-memory knows bytes and nothing of the engine above it");
  }

  @Test
  void onlyThePagePackageReadsAndWritesBuffers() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".page")
            .should()
            .callMethodWhere(
                calls(
                    "of a ByteBuffer's accessors",
                    target ->
                        target.getOwner().isAssignableTo(ByteBuffer.class)
                            && target.getName().matches("(get|put).*"))),
        "race detectors and a checked variant must see every access");
  }

  @Test
  void nobodyUsesUnsafeOrClocksOrFilesOrRandomness() {
    check(
        noClasses()
            .should()
            .dependOnClassesThat()
            .haveNameMatching("sun\\.misc\\..*|jdk\\.internal\\..*|java\\.util\\.Random"),
        "no flag and no warning on any JDK; randomness has its seam");
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(BASE + ".system")
            .should()
            .dependOnClassesThat()
            .haveNameMatching(
                "java\\.nio\\.file\\..*|java\\.nio\\.channels\\..*|java\\.io\\.File.*"),
        "files have their seam; only memory is mapped from one");
    check(
        noClasses()
            .should()
            .callMethodWhere(
                calls(
                    "of clocks and sleep",
                    target -> target.getName().matches("nanoTime|currentTimeMillis|sleep"))),
        "time has its seam");
  }

  @Test
  void callsHaveSixParametersAtMost() {
    List<String> longer = new ArrayList<>();
    for (JavaClass type : CLASSES) {
      for (JavaCodeUnit unit : type.getCodeUnits()) {
        // In the entry cache, what is compared and copied would be an object for each lookup.
        boolean listed = type.isRecord() && unit.isConstructor() || unit.getName().contains("$");
        if (unit.getRawParameterTypes().size() > 6
            && !listed
            && !type.getSimpleName().equals("EntryCache")) {
          longer.add(unit.getFullName());
        }
      }
    }
    assertEquals(List.of(), longer);
  }
}
