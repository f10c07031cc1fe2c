package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refuse, in the environment, is the number of a system call that the kernel refuses collrun.
const refuse = "COLLRUN_TEST_REFUSE"

func init() {
	if n, err := strconv.ParseUint(os.Getenv(refuse), 10, 32); err == nil {
		runtime.LockOSThread() // where main runs, which children are started from
		if err := refuseCall(uint32(n)); err != nil {
			panic(err)
		}
	}
}

// refuseCall makes this thread and its children get EPERM from a system call.
func refuseCall(number uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number, which is first
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}

// TestDoctorSeesWhatIsRefused has a kernel that refuses what ranks need, as kernels of containers do.
func TestDoctorSeesWhatIsRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		number int
		value  any
		says   string
	}{
		{"cma", unix.SYS_PROCESS_VM_READV, "refused", "seccomp mode 2"},
		{"memfd", unix.SYS_MEMFD_CREATE, false, "operation not permitted"},
	} {
		l := command(t, "doctor", "-json")
		l.cmd.Env = append(l.cmd.Env, refuse+"="+strconv.Itoa(test.number))
		f := diagnose(t, l)[test.name]
		if f.Value != test.value || !strings.Contains(f.Text+f.Warning, test.says) {
			t.Errorf("%+v", f)
		}
	}
}

// TestDoctorKnowsProcessors is bound to one of them.
func TestDoctorKnowsProcessors(t *testing.T) {
	var was, first unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &was); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !was.IsSet(cpu) {
		cpu++
	}
	first.Set(cpu)
	if err := unix.SchedSetaffinity(0, &first); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &was) }()
	found := diagnose(t, command(t, "doctor", "-json")) // inherits this thread's
	if f := found["affinity"]; f.Value != strconv.Itoa(cpu) || found["cores"].Value != 1.0 {
		t.Errorf("%+v, %+v", f, found["cores"])
	}
}
