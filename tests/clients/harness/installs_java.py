"""The jars of a Maven profile and the programs compiled with them, in the cache folder.

Maven and javac are asked once per lock file and set of sources; what they make is used again.
"""

from .installs import CLIENTS, command, made_once, need

# Short programs on a machine of few cores: the start counts more than the speed afterwards.
OPTIONS = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"]


def jars(pom, name, *profile):
    """The folder of all jars that a pom, or one profile of it, stands on."""
    maven = need("mvn", "the package maven")

    def make(folder):
        command([maven, "-q", "-B", "-f", str(pom), *profile, "dependency:copy-dependencies",
                 f"-DoutputDirectory={folder}"])

    return made_once(name, [pom], make)


def program(main, folder, libraries, name, *shared):
    """The command that runs class `main` of a folder; `shared` are sources from elsewhere."""
    compiler = need("javac", "a JDK of 17 or newer")
    java = need("java", "a JDK of 17 or newer")
    path = f"{libraries}/*"

    def make(out):
        command([compiler, "-nowarn", "-Xlint:none", "--release", "17", "-cp", path, "-sourcepath",
                 str(folder), "-d", str(out), *map(str, shared), str(folder / f"{main}.java")])

    sources = [folder / "pom.xml", *sorted(folder.glob("*.java")), *shared]
    classes = made_once(f"{name}-{main}", sources, make)
    return [java, *OPTIONS, "-cp", f"{classes}:{path}", main]


def java_program(main, profile):
    """The command that runs a program of java/ with the jars of a profile of java/pom.xml."""
    folder = CLIENTS / "java"
    libraries = jars(folder / "pom.xml", f"java-{profile}", "-P", profile)
    return program(main, folder, libraries, "java")


def package_program(main, profile):
    """As java_program, with clients/java and its tests."""
    tree = CLIENTS.parents[1]
    home = tree / "clients/java"
    libraries = jars(CLIENTS / "java/pom.xml", f"java-{profile}", "-P", profile)
    *command_words, path, main = program(main, CLIENTS / "java", libraries, "java", *sorted(home.rglob("src/**/*.java")))
    resources = map(str, sorted(home.glob("*/src/main/resources")))
    return [command_words[0], f"-Dweir.tree={tree}", *command_words[1:], ":".join([path, *resources]), main]
