// What nccl.c needs of NCCL: see stub.c.
#pragma once
#include "cuda_runtime.h"

#define NCCL_VERSION_CODE 20000

typedef enum { ncclSuccess, ncclUnhandledCudaError, ncclInternalError } ncclResult_t;
typedef enum { ncclSum, ncclProd, ncclMin, ncclMax, ncclAvg } ncclRedOp_t;
typedef enum {
	ncclInt8, ncclUint8, ncclInt32, ncclUint32, ncclInt64, ncclUint64, ncclFloat16, ncclBfloat16, ncclFloat32, ncclFloat64,
} ncclDataType_t;
typedef int ncclComm_t;
typedef struct { char internal[128]; } ncclUniqueId;

ncclResult_t ncclGetVersion(int *), ncclGetUniqueId(ncclUniqueId *), ncclCommDestroy(ncclComm_t);
ncclResult_t ncclCommInitRank(ncclComm_t *, int size, ncclUniqueId, int rank);
const char *ncclGetErrorString(ncclResult_t);
ncclResult_t ncclGroupStart(void), ncclGroupEnd(void);
ncclResult_t ncclSend(const void *, size_t, ncclDataType_t, int peer, ncclComm_t, cudaStream_t);
ncclResult_t ncclRecv(void *, size_t, ncclDataType_t, int peer, ncclComm_t, cudaStream_t);
ncclResult_t ncclAllGather(const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
ncclResult_t ncclAllReduce(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
ncclResult_t ncclBroadcast(const void *, void *, size_t, ncclDataType_t, int root, ncclComm_t, cudaStream_t);
ncclResult_t ncclReduce(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int root, ncclComm_t, cudaStream_t);
ncclResult_t ncclReduceScatter(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
