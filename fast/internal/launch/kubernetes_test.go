package launch

import (
	"os"
	"regexp"
	"testing"
)

// TestManifest takes the variables from the manifest of the manual, and adds what Kubernetes sets.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("../../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	env := variables{"JOB_COMPLETION_INDEX": "3", "HOSTNAME": "train-3"}
	variable := regexp.MustCompile(`- name: (COLL_\w+)\n +value: "?([^"\n]+)"?\n`)
	for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
		env[m[1]] = m[2]
	}
	l, err := Detect(env.get)
	if err != nil || l.Launcher != "Kubernetes" || l.Rank != 3 || l.Size != 4 || l.Job != "train" ||
		l.Store != "tcp://train-0.ranks:29511" || l.SecretFile != "/run/secrets/collgen/secret" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, line := range []string{"completions: 4", "parallelism: 4", "subdomain: ranks", "name: ranks", "name: train"} {
		if !regexp.MustCompile(`(?m)^ +` + line + `( |$)`).Match(text) {
			t.Errorf("the manifest does not have %q", line)
		}
	}
}
