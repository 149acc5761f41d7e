#!/bin/bash
# sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh trainer.py --epochs 3
srun --nodes="$SLURM_NNODES" --ntasks-per-node=1 --gres=gpu:"$SLURM_GPUS_ON_NODE" \
  torchrun --nnodes="$SLURM_NNODES" --nproc_per_node="$SLURM_GPUS_ON_NODE" --rdzv_id="$SLURM_JOB_ID" --rdzv_backend=c10d \
  --rdzv_endpoint="$(hostname):$((20000 + SLURM_JOB_ID % 10000))" "$@"
