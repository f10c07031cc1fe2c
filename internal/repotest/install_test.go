package repotest

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstall: go install with a version gets the commands from a module proxy. It refuses a module with replace
// directives. What the module requires comes from the cache of modules, as if that were a proxy too; the commands are
// not compiled.
func TestInstall(t *testing.T) {
	out := install(t, read(t, "go.mod"))
	for _, command := range []string{"collgen", "collperf", "collrun", "collvet"} {
		if !strings.Contains(out, "/bin/"+command+"\n") {
			t.Errorf("%s is not installed:\n%s", command, out)
		}
	}
}

// TestInstallCanFail adds a replace directive.
func TestInstallCanFail(t *testing.T) {
	out := install(t, read(t, "go.mod")+"\nreplace golang.org/x/sys => ../sys\n")
	if !strings.Contains(out, "replace directives") {
		t.Error(out)
	}
}

// install returns what go install -n prints of the commands of this module, with another go.mod.
func install(t *testing.T, mod string) string {
	t.Helper()
	proxy, cache := t.TempDir(), t.TempDir()
	versions := filepath.Join("github.com", "collgen", "collgen", "@v")
	writeFile(t, proxy, filepath.Join(versions, "list"), "v0.0.1\n")
	writeFile(t, proxy, filepath.Join(versions, "v0.0.1.info"), `{"Version": "v0.0.1"}`)
	writeFile(t, proxy, filepath.Join(versions, "v0.0.1.mod"), mod)
	writeModule(t, filepath.Join(proxy, versions, "v0.0.1.zip"), module+"@v0.0.1/", mod)
	modules, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "install", "-n", module+"/cmd/...@v0.0.1")
	cmd.Dir = cache
	cmd.Env = append(os.Environ(), "GOMODCACHE="+cache, "GOFLAGS=-modcacherw", "GOBIN="+cache+"/bin", "GOSUMDB=off",
		"GOWORK=off",
		"GOPROXY=file://"+proxy+",file://"+strings.TrimSpace(string(modules))+"/cache/download")
	out, _ := cmd.CombinedOutput() // where it fails, it says why
	return string(out)
}

// writeModule writes the zip file of this module that a proxy would have: the files of git, without those of modules
// inside of it.
func writeModule(t *testing.T, file, prefix, mod string) {
	t.Helper()
	names, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		t.Skip("left out: the files are not those of a clone: ", err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	var inside []string
	all := strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00")
	for _, name := range all {
		if dir, isMod := strings.CutSuffix(name, "/go.mod"); isMod {
			inside = append(inside, dir+"/")
		}
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil || within(name, inside) {
			continue // it was removed, or is a link to a folder
		}
		if name == "go.mod" {
			text = []byte(mod)
		}
		w, err := z.Create(prefix + name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func within(name string, dirs []string) bool {
	for _, dir := range dirs {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}
