//go:build linux

package verbs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// TestLayout has a C compiler compare our declarations with the library's header.
func TestLayout(t *testing.T) {
	if out, err := compile(t, "testdata/layout.c"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := compile(t, "-DPLANTED", "testdata/layout.c"); err == nil ||
		!strings.Contains(out, "wc.status is elsewhere") {
		t.Errorf("a structure that is wrong was not found: %v\n%s", err, out)
	}
}

// TestValues does the same with the values of constants that have Go's names.
func TestValues(t *testing.T) {
	values := map[string]int{
		"IBV_WC_SUCCESS": int(Success), "IBV_WC_LOC_LEN_ERR": int(LengthError), "IBV_WC_LOC_QP_OP_ERR": int(LocalQPError),
		"IBV_WC_LOC_PROT_ERR": int(ProtectionError), "IBV_WC_WR_FLUSH_ERR": int(Flushed),
		"IBV_WC_REM_ACCESS_ERR": int(RemoteAccessError), "IBV_WC_RETRY_EXC_ERR": int(RetriesExceeded),
		"IBV_WC_RNR_RETRY_EXC_ERR": int(RNRRetries), "IBV_WC_TM_RNDV_INCOMPLETE": len(statusWords) - 1,
		"IBV_EVENT_CQ_ERR": int(EventCQError), "IBV_EVENT_QP_FATAL": int(EventQPFatal),
		"IBV_EVENT_QP_REQ_ERR": int(EventQPRequestError), "IBV_EVENT_QP_ACCESS_ERR": int(EventQPAccessError),
		"IBV_EVENT_COMM_EST": int(EventEstablished), "IBV_EVENT_DEVICE_FATAL": int(EventDeviceFatal),
		"IBV_EVENT_PORT_ACTIVE": int(EventPortActive), "IBV_EVENT_PORT_ERR": int(EventPortError),
		"IBV_EVENT_GID_CHANGE": int(EventGIDChange), "IBV_EVENT_WQ_FATAL": len(eventWords) - 1,
		"IBV_WR_RDMA_WRITE": int(Write), "IBV_WR_RDMA_WRITE_WITH_IMM": int(WriteWithImm), "IBV_WR_SEND": int(Message),
		"IBV_WC_SEND": int(SendDone), "IBV_WC_RDMA_WRITE": int(WriteDone), "IBV_WC_RECV": int(Received),
		"IBV_WC_RECV_RDMA_WITH_IMM": int(ReceivedImm),
		"IBV_ACCESS_LOCAL_WRITE":    int(LocalWrite), "IBV_ACCESS_REMOTE_WRITE": int(RemoteWrite),
		"IBV_LINK_LAYER_UNSPECIFIED": int(LinkUnspecified), "IBV_LINK_LAYER_INFINIBAND": int(InfiniBand),
		"IBV_LINK_LAYER_ETHERNET": int(Ethernet), "IBV_PORT_DOWN": int(PortDown), "IBV_PORT_ACTIVE": int(PortActive),
		"IBV_PORT_ACTIVE_DEFER": len(portWords) - 1, "IBV_MTU_4096": 5,
		"IBV_NODE_CA": int(ChannelAdapter), "IBV_NODE_SWITCH": int(Switch), "IBV_NODE_ROUTER": int(Router),
		"IBV_NODE_RNIC":  int(RNIC),
		"IBV_NODE_USNIC": int(USNIC), "IBV_NODE_USNIC_UDP": int(USNICUDP), "IBV_NODE_UNSPECIFIED": int(Unspecified),
		"IBV_GID_TYPE_IB": 0, "IBV_GID_TYPE_ROCE_V1": 1, "IBV_GID_TYPE_ROCE_V2": 2,
	}
	if out, err := compile(t, assertions(t, values)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	values["IBV_WC_SUCCESS"]++
	if _, err := compile(t, assertions(t, values)); err == nil {
		t.Error("a value that is wrong was not found")
	}
}

// assertions writes a C program that can be compiled if the constants have these values.
func assertions(t *testing.T, values map[string]int) string {
	t.Helper()
	text := "#include <infiniband/verbs.h>\n"
	for name, value := range values {
		text += fmt.Sprintf("_Static_assert((int)%s == %d, \"%s\");\n", name, value, name)
	}
	file := filepath.Join(t.TempDir(), "values.c")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func compile(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := fake.Compiler(t, append([]string{"-fsyntax-only"}, args...)...).CombinedOutput()
	return string(out), err
}
