package io.isobardb.lsm.api;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What users see of classes whose packages are exported. */
public final class Signatures {
  private final Set<String> exported;

  /**
   * @param exported the packages that users may import
   */
  public Signatures(Set<String> exported) {
    this.exported = exported;
  }

  private static boolean isSeen(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  /** Whether users can name a class. */
  public boolean isSeen(JavaClass type) {
    return exported.contains(type.getPackageName())
        && isSeen(type.getModifiers())
        && type.getEnclosingClass().map(this::isSeen).orElse(true);
  }

  /** Each place where users meet a class that they can't name. */
  public List<String> leaks(JavaClasses classes) {
    List<String> leaks = new ArrayList<>();
    for (JavaClass type : classes) {
      if (isSeen(type)) {
        Stream.concat(type.getRawSuperclass().stream(), type.getRawInterfaces().stream())
            .forEach(used -> check(type.getName(), used, leaks));
        type.getMembers().stream()
            .filter(member -> isSeen(member.getModifiers()))
            .forEach(
                member ->
                    named(member)
                        .flatMap(used -> used.getAllInvolvedRawTypes().stream())
                        .forEach(used -> check(member.getFullName(), used, leaks)));
      }
    }
    return leaks;
  }

  private static Stream<JavaType> named(JavaMember member) {
    if (member instanceof JavaField field) {
      return Stream.of(field.getType());
    }
    JavaCodeUnit unit = (JavaCodeUnit) member;
    return Stream.of(
            unit.getParameterTypes().stream(),
            Stream.of(unit.getReturnType()),
            unit.getExceptionTypes().stream())
        .flatMap(types -> types);
  }

  private void check(String where, JavaClass used, List<String> leaks) {
    JavaClass type = used.getBaseComponentType();
    if (type.getName().startsWith("io.isobardb.") && !isSeen(type)) {
      leaks.add(where + " shows " + type.getName());
    }
  }
}
